#include "tools/exercises/skeleton.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <vector>

#include "base/check.h"

namespace shardlings {

namespace {

// What stands between two markers.
struct Block {
  std::string indent, step, task;  // no step in a sheet
  std::vector<std::string> help = {}, body = {};
  std::int64_t first_body_line = 0;
};

// A line as it is, or a block.
struct Piece {
  std::string line;
  std::optional<Block> block = {};
};

using Pieces = std::vector<Piece>;

// "10" of "solutions/10_data_parallel/exercise.cpp".
std::string lesson_of(const std::string& file) {
  return std::filesystem::path(file).parent_path().filename().string().substr(0, 2);
}

bool is_sheet(const std::string& file) {
  return file.ends_with(".toml");
}

std::string comment_of(const std::string& file) {
  return is_sheet(file) ? "#" : "//";
}

[[noreturn]] void refuse(const std::string& file, std::int64_t line, const std::string& what) {
  fail(ExitCode::bad_data, "{}:{}: {}", file, line, what);
}

class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file), comment_(comment_of(file)) {}

  Pieces parse(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
      take(line, line.substr(0, indent), std::string_view(line).substr(indent));
    }
    if (open_) refuse("[exercise] without its [end]");
    if (steps_ == 0) refuse("there is no [exercise] in it");
    return std::move(pieces_);
  }

 private:
  void take(const std::string& line, const std::string& indent, std::string_view content) {
    if (content.starts_with(comment_ + " [exercise")) {
      begin(indent, std::string(content));
    } else if (content.starts_with(comment_ + " [end")) {
      end(content);
    } else if (content.starts_with(comment_ + " |")) {
      help(content);
    } else if (open_) {
      if (open_->body.empty()) open_->first_body_line = line_;
      open_->body.push_back(line);
    } else {
      pieces_.push_back({line});
    }
  }

  void begin(const std::string& indent, const std::string& content) {
    if (open_) refuse("[exercise] inside another one");
    ++steps_;
    const std::string step = is_sheet(file_) ? "" : fmt::format("{}.{}", lesson(), steps_);
    const std::string marker =
        step.empty() ? comment_ + " [exercise] " : fmt::format("// [exercise {}] ", step);
    if (!content.starts_with(marker) || content.size() == marker.size())
      refuse(fmt::format("expected \"{}the task in one line\", got \"{}\"", marker, content));
    open_ = Block{.indent = indent, .step = step, .task = content.substr(marker.size())};
  }

  void help(std::string_view content) {
    if (!open_ || !open_->body.empty())
      refuse("lines that help, \"" + comment_ + " | ...\", stand right below [exercise]");
    const std::string_view text = content.substr(comment_.size() + 2);
    open_->help.push_back(comment_ + std::string(text));
  }

  void end(std::string_view content) {
    if (content != comment_ + " [end]") refuse("expected \"" + comment_ + " [end]\"");
    if (!open_) refuse("[end] without [exercise]");
    if (open_->body.empty()) refuse("there is nothing between [exercise] and [end]");
    pieces_.push_back({"", std::move(open_)});
    open_.reset();
  }

  // Steps of lesson 01 are 1.1, 1.2, ...
  std::string lesson() const {
    const std::string number = lesson_of(file_);
    return number.starts_with('0') ? number.substr(1) : number;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    shardlings::refuse(file_, line_, what);
  }

  const std::string& file_;
  const std::string comment_;
  std::int64_t line_ = 0;
  std::int64_t steps_ = 0;
  std::optional<Block> open_;
  Pieces pieces_;
};

// name = "formula"   # a comment
std::string unwritten_row(const std::string& row, const std::string& file, std::int64_t line) {
  static const std::regex kRow(R"re(\s*("[^"]+"|\w+)\s*=\s*"[^"]*"\s*(#.*)?)re");
  if (!std::regex_match(row, kRow))
    refuse(file, line, "expected a row, name = \"formula\", got: " + row);
  return row.substr(0, row.find('=')) + "= \"?\"";
}

std::string cut(const Block& block, const std::string& file) {
  const std::string task = block.step.empty() ? block.task : block.step + ": " + block.task;
  std::string text = block.indent + comment_of(file) + " " + task + "\n";
  for (const std::string& line : block.help) text += block.indent + line + "\n";
  if (!is_sheet(file)) return text + fmt::format("{}todo(\"{}\");\n", block.indent, block.step);
  for (std::size_t i = 0; i < block.body.size(); ++i) {
    const std::string& line = block.body[i];
    if (!line.empty() && line.find_first_not_of(' ') != line.find('#'))
      text +=
          unwritten_row(line, file, block.first_body_line + static_cast<std::int64_t>(i)) + "\n";
  }
  return text;
}

// todo() needs its header: in its place by the alphabet, after the exercise's own.
void include_todo(Pieces& pieces, const std::string& file) {
  const std::string include = "#include \"base/todo.h\"";
  const auto is_include = [](const Piece& piece) { return piece.line.starts_with("#include"); };
  const auto own = std::ranges::find_if(pieces, is_include);
  if (own == pieces.end()) refuse(file, 1, "expected #include of the exercise's header");
  const auto next = std::find_if(own + 1, pieces.end(), [&](const Piece& piece) {
    return piece.line.starts_with("#include \"") && piece.line >= include;
  });
  if (next == pieces.end())
    pieces.insert(own + 1, {{""}, {include}});
  else if (next->line != include)
    pieces.insert(next, {include});
}

std::string header(const std::string& file) {
  const std::string comment = comment_of(file), lesson = lesson_of(file);
  return fmt::format(
      "{0} Lesson {1}, yours to write: ./shardlings check {1} judges it, hint {1} helps.\n"
      "{0} Made from {2}; ./shardlings reset {1} makes it anew.\n\n",
      comment, lesson, file);
}

}  // namespace

std::string skeleton(std::string_view solution, const std::string& file) {
  Pieces pieces = Parser(file).parse(solution);
  if (!is_sheet(file)) include_todo(pieces, file);
  std::string text = header(file);
  for (const Piece& piece : pieces)
    text += piece.block ? cut(*piece.block, file) : piece.line + "\n";
  return text;
}

std::string without_step(std::string_view solution, const std::string& file,
                         std::string_view step) {
  Pieces pieces = Parser(file).parse(solution);
  include_todo(pieces, file);
  std::string text;
  bool found = false;
  for (const Piece& piece : pieces) {
    if (!piece.block) {
      text += piece.line + "\n";
    } else if (piece.block->step == step) {
      found = true;
      text += cut(*piece.block, file);
    } else {
      for (const std::string& line : piece.block->body) text += line + "\n";
    }
  }
  if (!found) fail(ExitCode::usage, "{} has no step \"{}\"", file, step);
  return text;
}

}  // namespace shardlings
