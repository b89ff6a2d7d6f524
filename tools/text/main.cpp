// ./shardlings text NAME [FILE]: a real text to train on, from a package of the distribution.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/suggest.h"
#include "base/units.h"
#include "data/entropies.h"
#include "tools/text/kjv.h"

namespace shardlings {

namespace {

struct Text {
  std::string_view name;
  std::string_view title;
  std::string (*make)();
};

constexpr Text kTexts[] = {
    {"kjv", "the King James Bible", king_james_bible},
};

const Text& text_named(std::string_view name) {
  std::vector<std::string_view> names;
  std::string list;
  for (const Text& text : kTexts) {
    if (text.name == name) return text;
    names.push_back(text.name);
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", text.name, text.title);
  }
  const std::string suggestion = nearest(name, names);
  fail(ExitCode::usage, "there is no text \"{}\"{} There is: {}", name,
       suggestion.empty() ? "." : ", did you mean " + suggestion + "?", list);
}

void make_text(const Text& text, const std::filesystem::path& path) {
  const std::string bytes = text.make();
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  write_file_atomically(path, bytes);
  const Entropies known =
      entropies({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  const auto size_bytes = static_cast<std::int64_t>(bytes.size());
  fmt::print(
      "{}: {}, {} ({} bytes)\n"
      "What is left to guess in a byte, in nats:\n"
      "  unigram  {:.3f}   knowing how often each byte occurs\n"
      "  bigram   {:.3f}   knowing also the byte before it\n"
      "  trigram  {:.3f}   knowing also the two bytes before it\n"
      "Train on it: ./shardlings run 01 --text {}\n",
      path.string(), text.title, format_bytes(size_bytes), format_count(size_bytes), known.unigram,
      known.bigram, known.trigram, path.string());
}

void run(std::span<const char* const> arguments) {
  if (arguments.empty() || arguments.size() > 2)
    fail(ExitCode::usage, "usage: ./shardlings text NAME [FILE]; without FILE, data/NAME.txt");
  const Text& text = text_named(arguments[0]);
  make_text(text, arguments.size() == 2 ? arguments[1] : fmt::format("data/{}.txt", text.name));
}

}  // namespace

}  // namespace shardlings

int main(int count, char** words) {
  try {
    shardlings::run({words + 1, words + count});
    return 0;
  } catch (const shardlings::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(shardlings::ExitCode::io);
  }
}
