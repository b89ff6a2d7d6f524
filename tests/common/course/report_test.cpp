#include "course/report.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>

#include "course/text.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

namespace fs = std::filesystem;

// Lesson 01 as it is before budgets exist: no formulas, no traffic, no clock.
Report small_report() {
  Report report;
  report.lesson = "01_training_step";
  report.backend = "cpu";
  report.dtype = "f32";
  report.policy = "f32";
  report.seed = 1;
  report.steps = 3;
  report.model = {.size = {.L = 4, .D = 128, .H = 4, .T = 128, .V = 256}, .P = 842496};
  report.knobs = {{"batch", 8}, {"learning-rate", 2.0}, {"text", "stories"}};
  report.losses = {5.545, 1.0 / 3, 5};
  report.gradient_norms = {1.5, 1e-17, 0.1};
  report.entropy_floor = 0.98;
  report.memory = {
      {{.tier = "device",
        .peak_bytes = 41234567,
        .rows = {{.name = "parameters", .peak_bytes = 3369984, .at_peak_bytes = 3369984},
                 {.name = "workspace", .peak_bytes = 1048576, .at_peak_bytes = 0}},
        .owners_at_peak = {{"logits", 1048576}, {"block 0 · mlp up", 524288}}}}};
  report.counts = {{{{.name = "model FLOPs", .unit = "FLOP", .measured = 5234491392}}}};
  report.wall = Wall{.step_ms_median = 41.25, .tokens_per_second = 24812.4};
  check_at_most(report, "held-out loss below the bigram line", 2.1, 2.31);
  check_at_most(report, "loss at the start against ln V", 5.545, 5.6);
  return report;
}

// Every member in use.
Report full_report() {
  Report report = small_report();
  MemoryRow& row = report.memory[0][0].rows[0];
  row.formula = "w * (V*D + T*D + L*(12*D^2 + 13*D) + 2*D)";
  row.budget_bytes = 3369984;
  row.verdict = "exact";
  report.memory[0][0].rows[1].formula = "?";
  report.memory[0].push_back({.tier = "host", .peak_bytes = 0});
  CountRow& count = report.counts[0].rows[0];
  count.formula = "6*P*B*T";
  count.budget = 28.5;
  count.verdict = "4.00× too large = n: every rank still counted all of it";
  report.traffic = {{{{.axis = "dp",
                       .operation = "all_reduce",
                       .what = "gradients",
                       .formula = "g*P",
                       .budget_bytes = 1,
                       .calls = 2,
                       .messages = 3,
                       .payload_bytes = 4,
                       .sent_bytes = 5,
                       .link = "NVLink",
                       .verdict = "close"}}}};
  report.trade = Trade{.against = "01", .memory_bytes = -5, .flops = 1e18, .bubble_ms = 0.25};
  report.clock = ClockReport{"h100x8", 1.5, 1, 0.25, 0.25, 0.4};
  report.mesh = {.dp = 2, .tp = 3, .pp = 4, .cp = 5, .ep = 6};
  return report;
}

struct TemporaryDirectory {
  fs::path path = fs::temp_directory_path() / fmt::format("shardlings_report_{}", ::getpid());
  ~TemporaryDirectory() { fs::remove_all(path); }
};

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// `text` with the first `from` replaced.
std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the tables of a small run") {
  CHECK(report_text(small_report(), {}) ==
        R"(device memory, each row at its peak; all together 41,234,567 bytes (39.3 MiB)
  row          measured
  parameters  3,369,984
  workspace   1,048,576

largest owners at the device peak
  owner                 bytes
  logits            1,048,576
  block 0 · mlp up    524,288

also
  measured             value  unit
  model FLOPs  5,234,491,392  FLOP

checks
  check                                value  limit  result
  held-out loss below the bigram line    2.1   2.31  passed
  loss at the start against ln V       5.545    5.6  passed

wall time (this machine, now: never checked)
  step 41.2 ms (median) · 24,812 tokens/s

)");
}

TEST_CASE("formulas, budgets and verdicts appear when there are any") {
  const std::string text = report_text(full_report(), {});
  CHECK(text.find(R"(
  row         formula                                 budget   measured  verdict
  parameters  w * (V*D + T*D + L*(12*D^2 + 13*D)   3,369,984  3,369,984  exact
              + 2*D)
  workspace   ?                                               1,048,576
)") != std::string::npos);
  CHECK(text.find(R"(
  row          formula  budget       measured  verdict
  model FLOPs  6*P*B*T    28.5  5,234,491,392  4.00× too large = n: every rank
                                               still counted all of it
)") != std::string::npos);
}

TEST_CASE("the trade says what is saved and what it costs") {
  CHECK(report_text(small_report(), {}).find("trade") == std::string::npos);
  CHECK(report_text(full_report(), {}).find(R"(
the trade against lesson 01
  memory -5 B, FLOPs +1e+18, bubble +0.25 ms
)") != std::string::npos);
}

TEST_CASE("only the largest owners are shown") {
  Report report = small_report();
  report.memory[0][0].owners_at_peak.assign(20, {"block", 1});
  report.memory[0][0].owners_at_peak[7].owner = "eighth";
  report.memory[0][0].owners_at_peak[8].owner = "ninth";
  CHECK(report_text(report, {}).find("eighth") != std::string::npos);
  CHECK(report_text(report, {}).find("ninth") == std::string::npos);
}

TEST_CASE("no line is wider than the terminal") {
  Report report = full_report();
  report.checks[0].name = std::string(150, 'x');
  for (const std::int64_t width : {80, 90, 100}) {
    std::istringstream lines(report_text(report, {.width = width}));
    for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= width);
  }
}

TEST_CASE("colour adds to the words and takes nothing away") {
  Report report = small_report();
  check_at_most(report, "gradients agree", 1e-3, 1e-10);
  std::string text = report_text(report, {.colour = true});
  CHECK(text.find("\x1b[31mFAILED\x1b[0m") != std::string::npos);
  CHECK(text.find("\x1b[32mpassed\x1b[0m") != std::string::npos);
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b'))
    text.erase(at, text.find('m', at) + 1 - at);
  CHECK(text == report_text(report, {}));
}

TEST_CASE("the verdict, the last line and the exit code say the same") {
  const fs::path path = "runs/01_training_step/report.json";
  Report report = small_report();
  CHECK(verdict(report) == "passed");
  CHECK(exit_code(report) == ExitCode::ok);
  CHECK(summary_line(report, path, {}) ==
        "lesson 01 training_step: all checks passed · report runs/01_training_step/report.json");

  check_at_most(report, "gradients agree", std::nan(""), 1e-10);
  CHECK(verdict(report) == "failed");
  CHECK(exit_code(report) == ExitCode::check_failed);
  CHECK(summary_line(report, path, {}) ==
        "lesson 01 training_step: 1 check FAILED · report runs/01_training_step/report.json");

  report.memory[0][0].rows[0].verdict = "2.00× too large";
  report.memory[0][0].rows[1].verdict = "close";
  check_at_most(report, "norms agree", 1, 0.5);
  CHECK(summary_line(report, path, {}).find(": 2 checks FAILED, 1 budget row OFF · ") !=
        std::string::npos);
  report.checks.clear();
  CHECK(exit_code(report) == ExitCode::check_failed);
  CHECK(summary_line(report, path, {}).find(": 1 budget row OFF · ") != std::string::npos);

  report.ending = Ending::stopped;
  CHECK(verdict(report) == "stopped");
  CHECK(static_cast<int>(exit_code(report)) == 75);
  CHECK(summary_line(report, path, {}).find(": stopped after 3 of 3 steps · ") !=
        std::string::npos);

  report.ending = Ending::broken;
  CHECK(verdict(report) == "broken");
  CHECK(static_cast<int>(exit_code(report)) == 70);
  CHECK(summary_line(report, path, {}).find(": training BROKE at step 3 · ") != std::string::npos);
}

TEST_CASE("a budget row off in any table fails the run") {
  const auto fails = [](auto change) {
    Report report = full_report();
    report.counts[0].rows[0].verdict = "exact";
    REQUIRE(verdict(report) == "passed");
    change(report);
    return verdict(report) == "failed";
  };
  CHECK(fails([](Report& r) { r.memory[0][0].rows[1].verdict = "off"; }));
  CHECK(fails([](Report& r) { r.counts[0].rows[0].verdict = "off"; }));
  CHECK(fails([](Report& r) { r.traffic[0].rows[0].verdict = "off"; }));
}

TEST_CASE("schema 1 as it stands in the file") {
  CHECK(report_to_json(small_report()) ==
        R"({
  "schema": 1,
  "lesson": "01_training_step",
  "backend": "cpu",
  "launcher": "self",
  "ranks": 1,
  "dtype": "f32",
  "policy": "f32",
  "seed": 1,
  "steps": 3,
  "model": {"L":4,"D":128,"H":4,"T":128,"V":256,"P":842496},
  "mesh": {"dp":1,"tp":1,"pp":1,"cp":1,"ep":1},
  "knobs": {"batch":8,"learning-rate":2.0,"text":"stories"},
  "losses": [5.545,0.3333333333333333,5],
  "gradient_norms": [1.5,1e-17,0.1],
  "entropy_floor": 0.98,
  "memory": [
    [
      {
        "tier": "device",
        "peak_bytes": 41234567,
        "rows": [
          {"name":"parameters","formula":null,"budget_bytes":null,)"
        R"("peak_bytes":3369984,"at_peak_bytes":3369984,"verdict":null},
          {"name":"workspace","formula":null,"budget_bytes":null,)"
        R"("peak_bytes":1048576,"at_peak_bytes":0,"verdict":null}
        ],
        "owners_at_peak": [
          {"owner":"logits","bytes":1048576},
          {"owner":"block 0 · mlp up","bytes":524288}
        ]
      }
    ]
  ],
  "counts": [
    {
      "rows": [
        {"name":"model FLOPs","unit":"FLOP","formula":null,"budget":null,)"
        R"("measured":5234491392,"verdict":null}
      ]
    }
  ],
  "traffic": [],
  "trade": null,
  "clock": null,
  "wall": {"step_ms_median":41.25,"tokens_per_second":24812.4},
  "checks": [
    {"name":"held-out loss below the bigram line","passed":true,"value":2.1,"limit":2.31},
    {"name":"loss at the start against ln V","passed":true,"value":5.545,"limit":5.6}
  ],
  "verdict": "passed"
}
)");
}

TEST_CASE("instruments that lesson 01 lacks have their members too") {
  const std::string json = report_to_json(full_report());
  for (const char* line :
       {R"({"axis":"dp","operation":"all_reduce","what":"gradients","formula":"g*P",)"
        R"("budget_bytes":1,"calls":2,"messages":3,"payload_bytes":4,"sent_bytes":5,)"
        R"("link":"NVLink","verdict":"close"})",
        R"("trade": {"against":"01","memory_bytes":-5,"sent_bytes":null,"flops":1e+18,)"
        R"("exposed_ms":null,"bubble_ms":0.25})",
        R"("clock": {"cluster":"h100x8","step_ms":1.5,"compute_ms":1,)"
        R"("exposed_communication_ms":0.25,"bubble_ms":0.25,"mfu":0.4})"})
    CHECK(json.find(line) != std::string::npos);
}

TEST_CASE("what is written is what is read") {
  for (const Report& report : {Report{}, small_report(), full_report()}) {
    const std::string json = report_to_json(report);
    CHECK(report_to_json(report_from_json(json)) == json);
  }
  const Report read = report_from_json(report_to_json(full_report()));
  CHECK(read.losses == full_report().losses);
  CHECK(read.gradient_norms == full_report().gradient_norms);
  CHECK(read.knobs == full_report().knobs);
  CHECK(read.model.size == full_report().model.size);
  CHECK(read.memory[0][0].rows[0].formula == full_report().memory[0][0].rows[0].formula);
  CHECK(read.memory[0][0].rows[1].verdict == std::nullopt);
  CHECK(read.trade->flops == 1e18);
  CHECK(read.trade->sent_bytes == std::nullopt);
  CHECK(read.checks[0].passed);
}

TEST_CASE("an ending is read back") {
  Report report = small_report();
  for (const Ending ending : {Ending::finished, Ending::stopped, Ending::broken}) {
    report.ending = ending;
    CHECK(report_from_json(report_to_json(report)).ending == ending);
  }
}

TEST_CASE("numbers that are none become null, and text that is none is mended") {
  Report report = small_report();
  report.losses = {std::nan(""), std::numeric_limits<double>::infinity(), 1};
  report.knobs["text"] = "\xff.txt";
  const std::string json = report_to_json(report);
  CHECK(json.find("\"losses\": [null,null,1]") != std::string::npos);
  CHECK(json.find("\"\uFFFD.txt\"") != std::string::npos);
  const Report read = report_from_json(json);
  CHECK(std::isnan(read.losses[0]));
  CHECK(read.losses[2] == 1);
}

TEST_CASE("what is no report is refused by name") {
  const std::string json = report_to_json(full_report());
  CHECK_THROWS_WITH(report_from_json(""), "the report is not a JSON object");
  CHECK_THROWS_WITH(report_from_json("[1]"), "the report is not a JSON object");
  CHECK_THROWS_WITH(report_from_json(json.substr(0, json.size() / 2)),
                    "the report is not a JSON object");
  CHECK_THROWS_WITH(report_from_json("{}"), "the report has no member \"schema\"");
  CHECK_THROWS_WITH(report_from_json(with(json, "\"schema\": 1", "\"schema\": 2")),
                    "the report has schema 2, not 1");
  CHECK_THROWS_WITH(report_from_json(with(json, "\"mesh\"", "\"mess\"")),
                    "the report has no member \"mesh\"");
  CHECK_THROWS_WITH(report_from_json(with(json, "\"steps\": 3", "\"steps\": 3.5")),
                    "the report's member \"steps\" is not a whole number");
  CHECK_THROWS_WITH(report_from_json(with(json, "\"losses\": [5.545", "\"losses\": [\"x\"")),
                    "the report's member \"losses\" is not a number");
  CHECK_THROWS_WITH(report_from_json(with(json, "\"passed\":true", "\"passed\":1")),
                    "the report's member \"passed\" is not true or false");
  CHECK_THROWS_AS(read_report("/nowhere/report.json"), Error);
  CHECK_THROWS_AS(read_report("/"), Error);
}

TEST_CASE("a report is written whole, over the earlier one") {
  const TemporaryDirectory directory;
  const fs::path folder = directory.path / "runs" / "01_training_step";
  const fs::path path = write_report(small_report(), folder);
  CHECK(path == folder / "report.json");
  CHECK(content(path) == report_to_json(small_report()));
  write_report(full_report(), folder);
  CHECK(report_to_json(read_report(path)) == report_to_json(full_report()));
}

TEST_CASE("when there is no room for a report, the earlier one stays") {
  const TemporaryDirectory directory;
  const fs::path path = write_report(small_report(), directory.path);
  std::string message;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little{512, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &little);
  try {
    write_report(full_report(), directory.path);
  } catch (const Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(message == "cannot write " + path.string() + ": File too large");
  CHECK(content(path) == report_to_json(small_report()));
  CHECK_THROWS_WITH(write_report(small_report(), path / "below"),
                    "cannot make the directory " + (path / "below").string() + ": Not a directory");
}
