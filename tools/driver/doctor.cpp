#include <sys/utsname.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/units.h"
#include "configured.h"
#include "tools/driver/command.h"
#include "tools/driver/process.h"

namespace shardlings {

namespace {

// What follows `key` and blanks, colons, equals signs and quotes in the first line of `path` that
// begins with it.
std::string value_in(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto begin = line.find_first_not_of(" \t:=\"", key.size());
    const auto end = line.find_last_not_of("\" ");
    return begin == line.npos ? "" : line.substr(begin, end + 1 - begin);
  }
  return "";
}

std::string system_name() {
  utsname name{};
  uname(&name);
  return fmt::format("{}, {} {} {}", value_in("/etc/os-release", "PRETTY_NAME"), name.sysname,
                     name.release, name.machine);
}

std::string processor() {
  return fmt::format("{}, {} cores for us", value_in("/proc/cpuinfo", "model name"),
                     std::thread::hardware_concurrency());
}

// /proc/meminfo counts in "kB" of 1024 bytes.
std::string memory(const char* key) {
  const std::string value = value_in("/proc/meminfo", key);
  return format_bytes(parse_integer(value.substr(0, value.find(' ')), key) * 1024);
}

std::string or_else(const std::string& text, const char* otherwise) {
  return text.empty() ? otherwise : text;
}

// The line of nvcc that names its release, or "".
std::string cuda_toolkit() {
  for (const std::string nvcc : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
    std::istringstream lines(output_of({nvcc, "--version"}));
    for (std::string line; std::getline(lines, line);)
      if (line.find("release") != line.npos) return line;
  }
  return "";
}

// The names in tools/packages.txt, each with what it is needed for.
std::vector<std::pair<std::string, std::string>> packages() {
  std::vector<std::pair<std::string, std::string>> result;
  std::ifstream file(fmt::format("{}/tools/packages.txt", kSourceFolder));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, use;
    if (words >> name >> use && name[0] != '#') result.emplace_back(name, use);
  }
  return result;
}

}  // namespace

int report_environment(Arguments) {
  const auto show = [](const char* what, const std::string& value) {
    fmt::print("{:10}  {}\n", what, value);
  };
  show("shardlings",
       or_else(output_of({"git", "-C", kSourceFolder, "describe", "--always", "--tags", "--dirty"}),
               "not a git clone"));
  show("system", system_name());
  show("processor", processor());
  show("memory", fmt::format("{}, {} of it available", memory("MemTotal"), memory("MemAvailable")));
  show("gpu", or_else(output_of({"nvidia-smi", "--query-gpu=name,memory.total,driver_version",
                                 "--format=csv,noheader"}),
                      "none that nvidia-smi shows"));
  show("cuda", or_else(cuda_toolkit(), "no toolkit (nvcc)"));
  show("compiler", kCompiler);
  show("cmake", kCMakeVersion);
  show("build", kBuildFolder);
  const char* title = "packages";
  for (const auto& [name, use] : packages()) {
    const std::string version = output_of({"dpkg-query", "-W", "-f", "${Version}", name});
    show(title, fmt::format("{:22}{}", name, or_else(version, "not installed")) +
                    (version.empty() && use != "build" ? " (for " + use + ")" : ""));
    title = "";
  }
  return 0;
}

}  // namespace shardlings
