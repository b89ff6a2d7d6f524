// Clusters as files: what is written is read back, and what is wrong is shown where it stands.
#include "clock/cluster_file.h"

#include "base/check.h"
#include "tests/common/data/scratch.h"
#include "tests/common/storage/failure.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

const std::string kMine =
    "[chip.core]\n"                                                    // line 1
    "precision = \"f32\"\n"                                            // 2
    "flops = { value = 96e9, source = \"x\" }\n"                       // 3
    "memory_bandwidth = { value = 12_800_000_000, source = \"x\" }\n"  // 4
    "memory_bytes = { value = 4e9, source = \"x\" }\n"                 // 5
    "[link.memory]\n"                                                  // 6
    "class = \"shared\"\n"                                             // 7
    "latency = { value = 0, source = \"x\" }\n"                        // 8
    "bandwidth = { value = 5e9, source = \"x\" }\n"                    // 9
    "[cluster.mine]\n"                                                 // 10
    "chip = \"core\"\n"                                                // 11
    "chips_per_node = { value = 4, source = \"x\" }\n"                 // 12
    "inside = \"memory\"\n"                                            // 13
    "between = \"memory\"\n";                                          // 14

// What is said of kMine with `from` replaced by `to`.
std::string problem(const std::string& from, const std::string& to) {
  std::string text = kMine;
  REQUIRE(text.find(from) != text.npos);
  text.replace(text.find(from), from.size(), to);
  return failure([&] { parse_clusters(text, "m.toml"); });
}

Cluster measured() {
  return {.name = "mine",
          .chip = {.name = "core",
                   .flops = 1e11 / 3,
                   .precision = "f32",
                   .memory_bandwidth = 12.8e9,
                   .memory_bytes = 4e9},
          .chips_per_node = 4,
          .inside = {"shared", 1.1e-6 / 7, 5e9 / 3},
          .between = {"ethernet", 4.7e-5 / 3, 1.17e8}};
}

}  // namespace

TEST_CASE("a cluster is what its file says") {
  const std::vector<Cluster> clusters = parse_clusters(kMine, "m.toml");
  REQUIRE(clusters.size() == 1);
  Cluster mine{.name = "mine",
               .chip = {.name = "core",
                        .flops = 96e9,
                        .precision = "f32",
                        .memory_bandwidth = 12.8e9,
                        .memory_bytes = 4e9},
               .chips_per_node = 4,
               .inside = {"shared", 0, 5e9}};
  mine.between = mine.inside;
  CHECK(clusters[0] == mine);
}

TEST_CASE("a cluster that was written is read back to the bit") {
  const Scratch scratch;
  const std::filesystem::path path = scratch.folder() / "mine.toml";
  write_cluster(measured(), "ping-pong of 4 ranks", path);
  CHECK(cluster_named(path.string()) == measured());

  for (const std::string& name : cluster_names()) {
    write_cluster(cluster_named(name), "a copy", path);
    CHECK(read_cluster(path) == cluster_named(name));
  }
}

TEST_CASE("a cluster that no file can hold is not written, and the old file stays") {
  const Scratch scratch;
  const std::filesystem::path path = scratch.folder() / "mine.toml";
  write_cluster(measured(), "x", path);
  Cluster cluster = measured();
  cluster.inside.bandwidth = kAtOnce;
  CHECK(failure([&] {
          write_cluster(cluster, "x", path);
        }).ends_with("mine.toml:10:23: bandwidth: expected a finite number"));
  CHECK(failure([&] { write_cluster(measured(), "", path); }).starts_with("65: "));
  CHECK(failure([&] { write_cluster(measured(), "a \" in it", path); }).starts_with("65: "));
  cluster = measured();
  cluster.name = "mine]\n[cluster.other";
  CHECK(failure([&] { write_cluster(cluster, "x", path); }) != "");
  CHECK(read_cluster(path) == measured());
  CHECK(failure([&] {
          write_cluster(measured(), "x", scratch.folder() / "no" / "a.toml");
        }).starts_with("74: "));
}

TEST_CASE("numbers are refused where they stand") {
  CHECK(problem("{ value = 96e9, source = \"x\" }", "96e9") ==
        "65: m.toml:3:9: flops: expected { value = 3e12, source = \"where it is from\" }");
  CHECK(problem("96e9, source = \"x\"", "96e9") ==
        "65: m.toml:3:9: flops: expected { value = 3e12, source = \"where it is from\" }");
  for (const std::string wrong :
       {"96e9, source = \"\"", "96e9, source = 3", "96e9, sauce = \"x\"",
        "\"96e9\", source = \"x\"", "true, source = \"x\"", "96e9, source = \"x\", unit = \"GB\""})
    CHECK(problem("96e9, source = \"x\"", wrong).starts_with("65: m.toml:3:9: flops: expected {"));
  CHECK(problem("96e9", "0") == "65: m.toml:3:9: flops: expected a number above zero, got 0");
  CHECK(problem("96e9", "-1") == "65: m.toml:3:9: flops: expected a number above zero, got -1");
  CHECK(problem("96e9", "inf") == "65: m.toml:3:19: flops: expected a finite number");
  CHECK(problem("96e9", "nan") == "65: m.toml:3:19: flops: expected a finite number");
  CHECK(problem("value = 0,", "value = -1e-9,") ==
        "65: m.toml:8:11: latency: expected zero or more, got -1e-09");
  for (const std::string wrong : {"1.5", "1e30"})
    CHECK(problem("value = 4,", "value = " + wrong + ",")
              .starts_with("65: m.toml:12:18: chips_per_node: expected a whole number from 1"));
}

TEST_CASE("names are refused where they stand") {
  CHECK(problem("latency", "delay") ==
        "65: m.toml:8:1: [link.memory] has no \"delay\"; there are class, latency, bandwidth");
  CHECK(problem("latency", "latncy") ==
        "65: m.toml:8:1: [link.memory] has no \"latncy\"; did you mean latency?");
  CHECK(problem("class = \"shared\"\n", "") ==
        "65: m.toml:6:1: [link.memory] lacks class (a name)");
  CHECK(problem("[chip.core]", "[chips.core]") ==
        "65: m.toml:1:2: unknown \"chips\"; did you mean chip?");
  CHECK(problem("inside = \"memory\"", "inside = \"memry\"") ==
        "65: m.toml:13:10: inside: there is no [link.memry] in this file; did you mean memory?");
  CHECK(problem("class = \"shared\"", "class = \"\\u001b[31m\"") ==
        "65: m.toml:7:9: class: expected a name of letters, digits, - and _, in quotes");
  CHECK(problem("class = \"shared\"", "class = 3").starts_with("65: m.toml:7:9: class: expected"));
  CHECK(problem("[cluster.mine]", "[cluster.\"my own\"]") ==
        "65: m.toml:10:10: \"my own\" is no name: expected letters, digits, - and _");
  CHECK(problem("[link.memory]", "[chip]\nlink = 3\n[link.memory]") ==
        "65: m.toml:7:8: expected a table [chip.link]");
}

TEST_CASE("a file that is none is refused") {
  CHECK(failure([] { parse_clusters("[chip.a\n", "m.toml"); }).starts_with("65: m.toml:1:8: "));
  CHECK(failure([] { parse_clusters("chip = 3\n", "m.toml"); }) ==
        "65: m.toml:1:8: expected tables [chip.NAME]");
  CHECK(failure([] { parse_clusters("[cluster.a]\nchip = \"b\"\n", "m.toml"); }) ==
        "65: m.toml:2:8: chip: there is no [chip.b] in this file; there is none");

  const Scratch scratch;
  const std::string empty = scratch.write("empty.toml", "").string();
  CHECK(failure([&] { cluster_named(empty); }) ==
        "65: " + empty + ": expected one table [cluster.NAME], found 0");
  const std::string all = scratch.write("all.toml", clusters_toml()).string();
  CHECK(failure([&] { cluster_named(all); }) ==
        "65: " + all + ": expected one table [cluster.NAME], found 8");
}
