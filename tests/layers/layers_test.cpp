// The house as it stands keeps the rules of the layers, and a house that breaks one is caught.
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/check.h"
#include "tests/layers/layer_rules.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// A tree of sources in a folder of its own, which ends with it.
class TemporaryTree {
 public:
  TemporaryTree() {
    char name[] = "/tmp/shardlings-layers-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~TemporaryTree() { std::filesystem::remove_all(root_); }
  TemporaryTree(const TemporaryTree&) = delete;
  TemporaryTree& operator=(const TemporaryTree&) = delete;

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  std::vector<std::string> broken_rules() const {
    return shardlings::broken_rules(root_, layers_of("base\nledger base\nclock base\n"
                                                     "device ledger\ncourse device clock\n"));
  }

 private:
  std::filesystem::path root_;
};

// What is said about a tree whose only source is `file`.
std::vector<std::string> verdict_on(const std::string& file, const std::string& text) {
  const TemporaryTree tree;
  tree.write(file, text);
  return tree.broken_rules();
}

using Messages = std::vector<std::string>;

}  // namespace

TEST_CASE("the sources of the course keep the rules") {
  std::ostringstream lines;
  lines << std::ifstream(LAYERS_FILE).rdbuf();
  const Layers layers = layers_of(lines.str());
  REQUIRE(layers.contains("base"));
  REQUIRE(broken_rules(SOURCE_FOLDER, layers) == Messages{});
}

TEST_CASE("a layer includes only what is below it") {
  REQUIRE(verdict_on("common/device/a.cpp",
                     "#include <vector>\n\n#include \"base/check.h\"\n"
                     "#include \"device/a.h\"\n#include \"ledger/b.h\"\n")
              .empty());
  REQUIRE(verdict_on("common/base/a.h", "#pragma once\n#include \"ledger/b.h\"\n") ==
          Messages{"common/base/a.h:2: layer base may not include \"ledger/b.h\": "
                   "ledger is not below it"});
  REQUIRE(verdict_on("common/device/a.h", "  #  include <clock/b.h>  // beside it\n") ==
          Messages{"common/device/a.h:1: layer device may not include \"clock/b.h\": "
                   "clock is not below it"});
  REQUIRE(verdict_on("common/course/a.cpp", "#include \"lessons/01_one/a.h\"\n") ==
          Messages{"common/course/a.cpp:1: common may not include \"lessons/01_one/a.h\""});
  REQUIRE(verdict_on("common/device/a.cpp", "#include \"a.h\"\n") ==
          Messages{"common/device/a.cpp:1: \"a.h\" is neither a path from common/ nor one of a "
                   "lesson"});
}

TEST_CASE("a lesson includes only earlier lessons and common") {
  for (const std::string top : {"lessons", "solutions", "exercises"}) {
    REQUIRE(verdict_on(top + "/10_ten/a.cpp",
                       "#include \"lessons/10_ten/a.h\"\n#include \"lessons/09_nine/a.h\"\n"
                       "#include \"course/a.h\"\n")
                .empty());
    REQUIRE(verdict_on(top + "/10_ten/a.cpp", "\n#include \"lessons/11_eleven/a.h\"\n") ==
            Messages{top + "/10_ten/a.cpp:2: lesson 10 may not include \"lessons/11_eleven/a.h\", "
                           "which is not an earlier lesson"});
    REQUIRE(verdict_on(top + "/10_ten/a.cpp", "#include \"tests/support/catch.h\"\n").size() == 1);
  }
}

TEST_CASE("heavy libraries stay in two sources of their layer") {
  REQUIRE(verdict_on("common/device/a.cpp", "#include <Eigen/Core>\n").empty());
  REQUIRE(verdict_on("common/device/a.h", "#include <Eigen/Core>\n") ==
          Messages{"common/device/a.h:1: <Eigen/Core> may be included only by sources (.cpp) of "
                   "device"});
  for (const std::string header :
       {"Eigen/Core", "nlohmann/json.hpp", "toml++/toml.h", "muParser.h"})
    REQUIRE(verdict_on("lessons/01_one/main.cpp", "#include <" + header + ">\n").size() == 1);

  TemporaryTree tree;
  tree.write("common/course/a.cpp", "#include <nlohmann/json.hpp>\n");
  tree.write("common/course/b.cpp", "#include <nlohmann/json.hpp>\n");
  REQUIRE(tree.broken_rules().empty());
  tree.write("common/course/c.cpp", "#include <nlohmann/json.hpp>\n");
  REQUIRE(tree.broken_rules() ==
          Messages{"common/course/c.cpp:1: <nlohmann/json.hpp> is already included "
                   "by two other sources"});
}

TEST_CASE("conditional code stays in device and comm") {
  REQUIRE(verdict_on("common/device/a.h", "#ifdef __CUDACC__\n#endif\n").empty());
  for (const std::string line : {"#if X", "#ifdef X", "#ifndef X", " # elif X"})
    REQUIRE(verdict_on("lessons/01_one/a.h", line + "\n") ==
            Messages{"lessons/01_one/a.h:1: code is compiled conditionally only in common/device/ "
                     "and common/comm/"});
}

TEST_CASE("what cannot be judged is said") {
  const TemporaryTree tree;
  REQUIRE_THROWS_AS(tree.broken_rules(), Error);  // no source at all
  REQUIRE(verdict_on("common/new/a.h", "") ==
          Messages{"common/new/a.h: belongs to no layer that a CMakeLists.txt adds"});
  REQUIRE_THROWS_AS(layers_of("ledger base\nbase ledger\n"), Error);
}
