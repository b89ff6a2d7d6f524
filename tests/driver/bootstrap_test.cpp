// The script ./shardlings in a folder of its own, with stand-ins for the programs it calls.
#include "tests/driver/shell.h"
#include "tests/support/catch.h"

using namespace shardlings;

namespace {

// Every call of apt-get and cmake is written to the file "calls"; the packages in the file "absent"
// are not installed.
class House {
 public:
  House() {
    std::filesystem::create_directories(root() / "tools");
    std::filesystem::copy(SOURCE_FOLDER "/shardlings", root());
    std::filesystem::copy(SOURCE_FOLDER "/tools/packages.txt", root() / "tools");
    write_file(root() / "CMakePresets.json", "{}");
    stand_in("id", "echo 1000");
    stand_in("sudo", "echo -n 'sudo ' >>calls; exec \"$@\"");
    stand_in("apt-get", "echo \"apt-get $*\" >>calls; [ \"$1\" != install ] || rm absent");
    stand_in("dpkg-query", R"(for package; do
  grep -qsxe "$package" absent || echo "installed $package"
done)");
    stand_in("cmake", R"(echo "cmake $*" | sed "s,$PWD,.,g" >>calls
[ "$1" = -S ] || exit 0
mkdir -p build/release/bin
touch build/release/build.ninja
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >build/release/CMakeCache.txt
printf '#!/bin/sh\necho "driver: $*"; exit 7' >build/release/bin/driver
chmod +x build/release/bin/driver)");
  }

  void stand_in(const std::string& name, const std::string& script) const {
    write_file(programs() / name, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(programs() / name, std::filesystem::perms::owner_all);
  }
  void absent(const std::string& packages) const { write_file(root() / "absent", packages); }

  // The script, or another line of sh, with the stand-ins in front of `path`.
  Outcome run(const std::string& line, const std::string& path = "$PATH") const {
    return shell("cd " + root().string() + " && PATH=" + programs().string() + ":" + path + " " +
                 line);
  }
  std::string calls() const { return read_file(root() / "calls"); }
  std::filesystem::path root() const { return folder_.path() / "house"; }
  std::filesystem::path programs() const { return folder_.path() / "programs"; }

 private:
  TemporaryFolder folder_;
};

const std::string kFirst = "shardlings: building the driver (once, some seconds)\n";
const std::string kConfigure = "cmake -S . --preset release\n";
const std::string kBuild = "cmake --build ./build/release --target driver\n";

}  // namespace

TEST_CASE("the script configures once, builds, and becomes the driver") {
  const House house;
  const Outcome first = house.run("./shardlings run 01 --steps 3");
  REQUIRE(first.output == kFirst + "driver: run 01 --steps 3\n");
  REQUIRE(first.code == 7);
  REQUIRE(house.calls() == kConfigure + kBuild);

  REQUIRE(house.run("./shardlings --yes list").output == "driver: list\n");
  REQUIRE(house.calls() == kConfigure + kBuild + kBuild);
}

TEST_CASE("it works from anywhere and through a link") {
  const House house;
  std::filesystem::create_symlink(house.root() / "shardlings", house.programs() / "course");
  REQUIRE(house.run("./shardlings").code == 7);
  REQUIRE(house.run("sh -c 'cd / && course list'").output == "driver: list\n");
}

TEST_CASE("a moved folder is configured again") {
  const House house;
  REQUIRE(house.run("./shardlings").code == 7);
  REQUIRE(house.run("sed -i 's,=.*,=/elsewhere,' build/release/CMakeCache.txt").code == 0);
  REQUIRE(house.run("./shardlings").code == 7);
  REQUIRE(house.calls() == kConfigure + kBuild + kConfigure + kBuild);
}

TEST_CASE("a user without a terminal is told what is missing") {
  const House house;
  house.absent("libfmt-dev\ncatch2\n");
  const Outcome outcome = house.run("./shardlings list");
  REQUIRE(outcome.output ==
          "shardlings: missing: libfmt-dev catch2. "
          "Install with: sudo apt-get install libfmt-dev catch2\n");
  REQUIRE(outcome.code == 69);
  REQUIRE(house.calls().empty());
}

TEST_CASE("a user at a terminal is asked") {
  const House house;
  const std::string at_terminal = "script -qec './shardlings list' /dev/null";
  house.absent("libfmt-dev\n");
  REQUIRE(house.run("sh -c \"echo n | " + at_terminal + "\"").code == 69);
  REQUIRE(house.calls().empty());
  REQUIRE(house.run("sh -c \"echo y | " + at_terminal + "\"").code == 7);
  REQUIRE(house.calls().find("sudo apt-get update") == 0);
}

TEST_CASE("with --yes, or as root, missing packages are installed and work goes on") {
  const std::string update = "apt-get update\n";
  const std::string install = "apt-get install --yes --no-install-recommends libfmt-dev\n";
  const std::string end = kConfigure + kBuild;
  const House house;
  house.absent("libfmt-dev\n");
  SECTION("--yes") {
    REQUIRE(house.run("./shardlings --yes list").code == 7);
    REQUIRE(house.calls() == "sudo " + update + "sudo " + install + end);
  }
  SECTION("root") {
    house.stand_in("id", "echo 0");
    REQUIRE(house.run("./shardlings list").output ==
            "shardlings: installing libfmt-dev\n" + kFirst + "driver: list\n");
    REQUIRE(house.calls() == update + install + end);
  }
}

TEST_CASE("a package of one command is installed for that command") {
  const House house;
  house.absent("bible-kjv\n");
  REQUIRE(house.run("./shardlings list").code == 7);
  REQUIRE(house.run("./shardlings text other").code == 7);
  REQUIRE(house.run("./shardlings text kjv").code == 69);
  REQUIRE(house.run("./shardlings test").code == 69);
}

TEST_CASE("packages are left alone where asked, and where there is no dpkg") {
  const House house;
  house.absent("libfmt-dev\n");
  REQUIRE(house.run("./shardlings --skip-packages list").output == kFirst + "driver: list\n");

  std::filesystem::remove(house.programs() / "dpkg-query");
  REQUIRE(house
              .run("sh -c 'ln -s $(which bash readlink dirname grep mkdir rm sed touch chmod sh) " +
                   house.programs().string() + "'")
              .code == 0);
  REQUIRE(house.run("./shardlings list", "/none").output == "driver: list\n");
}

TEST_CASE("a step that fails shows the end of its log") {
  const House house;
  house.stand_in("cmake", "seq 1 30; exit 1");
  const Outcome outcome = house.run("./shardlings list");
  REQUIRE(outcome.code == 69);
  REQUIRE(outcome.output.starts_with(kFirst + "11\n"));
  REQUIRE(outcome.output.find("30\nshardlings: \"cmake -S ") != std::string::npos);
  REQUIRE(outcome.output.ends_with("/build/release/log/configure.txt\n"));

  house.stand_in("apt-get", "echo no network; exit 100");
  house.absent("libfmt-dev\n");
  REQUIRE(house.run("./shardlings --yes list").code == 69);
}
