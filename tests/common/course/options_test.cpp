#include "course/options.h"

#include <algorithm>
#include <sstream>

#include "base/check.h"
#include "course/text.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const LessonCard kCard{
    .number = 1,
    .slug = "training_step",
    .title = "One transformer, one device, four columns",
    .defaults = {.steps = 300},
    .knobs = {{.name = "segments", .initial = 4, .help = "recomputed segments", .highest = 12},
              {.name = "decay", .initial = 0.5, .help = "of the average", .highest = 1},
              {.name = "schedule",
               .initial = "gpipe",
               .help = "order of the micro-batches",
               .allowed = {"gpipe", "1f1b"}}}};

using Arguments = std::vector<const char*>;

// The error's text; "" when there is none, or when its code is not that of usage.
std::string problem(const Arguments& arguments) {
  try {
    parse_options(kCard, arguments);
    return "";
  } catch (const Error& error) {
    return error.code() == ExitCode::usage ? error.what() : "";
  }
}

}  // namespace

TEST_CASE("without arguments a lesson runs on its defaults") {
  const Options options = parse_options(kCard, {});
  CHECK(options.model == "nano");
  CHECK(options.size == ModelSize{.L = 4, .D = 128, .H = 4, .T = 128, .V = 256});
  CHECK(options.steps == 300);
  CHECK(options.batch == 8);
  CHECK(options.output == "runs/01_training_step");
  CHECK(options.knobs == Settings{{"segments", 4}, {"decay", 0.5}, {"schedule", "gpipe"}});
  CHECK_FALSE(options.help);
}

TEST_CASE("a lesson may have a context of its own, a preset named on the command line has its") {
  const LessonCard card{.number = 2, .slug = "memory", .defaults = {.size = {.T = 512}}};
  const ModelSize nano{.L = 4, .D = 128, .H = 4, .T = 512, .V = 256};
  CHECK(parse_options(card, {}).size == nano);
  CHECK(parse_options(card, Arguments{"--model", "micro"}).size.T == 256);
  CHECK(parse_options(card, Arguments{"--context", "64"}).size.T == 64);
}

TEST_CASE("every option sets its own value") {
  const Options options = parse_options(kCard, Arguments{"--layers",   "3",
                                                         "--width=96", "--heads",
                                                         "6",          "--context",
                                                         "64",         "--vocabulary",
                                                         "300",        "--batch",
                                                         "2",          "--steps",
                                                         "5",          "--time-limit",
                                                         "1.5",        "--learning-rate",
                                                         "1e-4",       "--warmup",
                                                         "3",          "--weight-decay",
                                                         "0.2",        "--clip",
                                                         "0",          "--seed",
                                                         "9",          "--dtype",
                                                         "f64",        "--text",
                                                         "a b.txt",    "--evaluate-every",
                                                         "4",          "--sample",
                                                         "10",         "--output",
                                                         "/tmp/x",     "--backend",
                                                         "guarded",    "--threads",
                                                         "2",          "--device-memory",
                                                         "48MiB",      "--segments",
                                                         "12",         "--decay",
                                                         "1",          "--schedule=1f1b"});
  CHECK(options.size == ModelSize{.L = 3, .D = 96, .H = 6, .T = 64, .V = 300});
  CHECK(options.batch == 2);
  CHECK(options.steps == 5);
  CHECK(options.time_limit_seconds == 1.5);
  CHECK(options.learning_rate == 1e-4);
  CHECK(options.warmup_steps == 3);
  CHECK(options.weight_decay == 0.2);
  CHECK(options.clip == 0);
  CHECK(options.seed == 9);
  CHECK(options.dtype == "f64");
  CHECK(options.text == "a b.txt");
  CHECK(options.evaluate_every_steps == 4);
  CHECK(options.sample_bytes == 10);
  CHECK(options.output == "/tmp/x");
  CHECK(options.backend == "guarded");
  CHECK(options.threads == 2);
  CHECK(options.device_memory_bytes == 48 << 20);
  CHECK(options.knobs == Settings{{"segments", 12}, {"decay", 1.0}, {"schedule", "1f1b"}});
}

TEST_CASE("sizes override the preset, wherever they stand") {
  const ModelSize size{.L = 2, .D = 256, .H = 8, .T = 256, .V = 256};
  CHECK(parse_options(kCard, Arguments{"--layers", "2", "--model", "micro"}).size == size);
  CHECK(parse_options(kCard, Arguments{"--model", "micro", "--layers", "2"}).size == size);
}

TEST_CASE("a word of a lesson that may be any is a path") {
  const LessonCard card{.number = 9, .slug = "x", .knobs = {{.name = "fit", .initial = ""}}};
  CHECK(parse_options(card, {}).knobs == Settings{{"fit", ""}});
  CHECK(parse_options(card, Arguments{"--fit", "a/b.toml"}).knobs == Settings{{"fit", "a/b.toml"}});
  CHECK(help_text(card).find("--fit FILE") != std::string::npos);
  CHECK_THROWS_WITH(parse_options(card, Arguments{"--fit", ""}),
                    Catch::Matchers::Contains("--fit: expected a path, got \"\""));
}

TEST_CASE("help wins over anything else") {
  CHECK(parse_options(kCard, Arguments{"--steps", "x", "--help"}).help);
  CHECK(parse_options(kCard, Arguments{"-h", "nonsense"}).help);
}

TEST_CASE("what is wrong with a command line is said in one line") {
  struct Case {
    Arguments arguments;
    std::string message;
  };
  const std::string layers = "--layers: expected a whole number from 1 to 1000, got ";
  const std::vector<Case> cases{
      {{"--stpes", "5"}, "unknown option \"--stpes\"; did you mean --steps?"},
      {{"--hlep"}, "unknown option \"--hlep\"; did you mean --help?"},
      {{"--segmnts=2"}, "unknown option \"--segmnts\"; did you mean --segments?"},
      {{"--frobnicate"}, "unknown option \"--frobnicate\"; --help lists them all"},
      {{"-n", "4"}, "unknown option \"-n\"; --help lists them all"},
      {{"--"}, "unknown option \"--\"; --help lists them all"},
      {{"--=3"}, "unknown option \"--\"; --help lists them all"},
      {{"kjv.txt"}, "\"kjv.txt\" is not an option; --help lists them all"},
      {{""}, "\"\" is not an option; --help lists them all"},
      {{"--layers"}, layers + "nothing"},
      {{"--layers", "--steps", "5"}, layers + "nothing"},
      {{"--layers="}, layers + "\"\""},
      {{"--layers", ""}, layers + "\"\""},
      {{"--layers=abc"}, layers + "\"abc\""},
      {{"--layers", "12abc"}, layers + "\"12abc\""},
      {{"--layers", "1e9"}, layers + "\"1e9\""},
      {{"--layers", "1.0"}, layers + "\"1.0\""},
      {{"--layers", "+1"}, layers + "\"+1\""},
      {{"--layers", " 1"}, layers + "\" 1\""},
      {{"--layers", "-1"}, layers + "\"-1\""},
      {{"--layers", "0"}, layers + "\"0\""},
      {{"--layers", "1001"}, layers + "\"1001\""},
      {{"--layers", "99999999999999999999"}, layers + "\"99999999999999999999\""},
      {{"--layers", "a\nb"}, layers + "\"a\\nb\""},
      {{"--vocabulary", "255"},
       "--vocabulary: expected a whole number from 256 to 16777216, got \"255\""},
      {{"--steps", "5", "--steps", "5"}, "--steps is given twice; once is enough"},
      {{"--steps=5", "--steps=6"}, "--steps is given twice; once is enough"},
      {{"--learning-rate", "fast"},
       "--learning-rate: expected a number from 0 to 100, got \"fast\""},
      {{"--learning-rate", "nan"}, "--learning-rate: expected a number from 0 to 100, got \"nan\""},
      {{"--learning-rate", "1,5"}, "--learning-rate: expected a number from 0 to 100, got \"1,5\""},
      {{"--clip", "-1"}, "--clip: expected a number from 0 to 1000000000, got \"-1\""},
      {{"--model", "nan0"}, "--model: expected one of nano, micro, gpt2, got \"nan0\""},
      {{"--dtype", "F32"}, "--dtype: expected one of f32, f64, got \"F32\""},
      {{"--backend", ""}, "--backend: expected one of cpu, guarded, cuda, cuda-tf32, got \"\""},
      {{"--text", ""}, "--text: expected a path, got \"\""},
      {{"--device-memory", "48 mib"},
       "--device-memory: expected a size such as 48MiB, 1.5GiB or 4096, got \"48 mib\""},
      {{"--device-memory", "0"},
       "--device-memory: expected a size such as 48MiB, 1.5GiB or 4096, got \"0\""},
      {{"--segments", "13"}, "--segments: expected a whole number from 0 to 12, got \"13\""},
      {{"--decay", "2"}, "--decay: expected a number from 0 to 1, got \"2\""},
      {{"--schedule", "2f2b"}, "--schedule: expected one of gpipe, 1f1b, got \"2f2b\""},
      {{"--width", "130"}, "width D = 130 is not divisible by heads H = 4"},
      {{"--layers", "0", "--steps", "x", "--heads", "3"},
       layers + "\"0\"; --steps: expected a whole number from 1 to 1000000000, got \"x\"; "
                "width D = 128 is not divisible by heads H = 3"},
  };
  for (const Case& c : cases) CHECK(problem(c.arguments) == c.message);
}

TEST_CASE("a lesson's card is held to its own rules") {
  CHECK_THROWS_AS(help_text({.number = 2, .knobs = {{.name = "steps", .initial = 1}}}), Error);
  CHECK_THROWS_AS(help_text({.number = 2, .defaults = {.model = "pico"}}), Error);
}

TEST_CASE("help shows every option with its default in 80 columns") {
  const std::string help = help_text(kCard);
  CHECK(help.find("Lesson 01 · One transformer, one device, four columns\n") == 0);
  CHECK(help.find("\n  --steps N                 optimizer steps [300]\n") != std::string::npos);
  CHECK(help.find("\n  --output DIR              where the report goes "
                  "[runs/01_training_step]\n") != std::string::npos);
  CHECK(help.find("\nThis lesson\n"
                  "  --segments N              recomputed segments [4]\n"
                  "  --decay N                 of the average [0.5]\n"
                  "  --schedule NAME           order of the micro-batches [gpipe]\n") !=
        std::string::npos);
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= 80);
}
