#include "tools/driver/lesson_files.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "configured.h"

namespace shardlings {

namespace {

const std::filesystem::path kRoot = kSourceFolder;

}  // namespace

std::filesystem::path learner_file(const std::filesystem::path& name) {
  const char* elsewhere = std::getenv("SHARDLINGS_LEARNER");
  return (elsewhere == nullptr ? kRoot : std::filesystem::path(elsewhere)) / name;
}

std::filesystem::path lesson_file(const Lesson& lesson, const char* name) {
  return kRoot / "lessons" / lesson.name() / name;
}

std::filesystem::path exercise_file(const Lesson& lesson, const char* name) {
  return learner_file("exercises") / lesson.name() / name;
}

std::filesystem::path solution_file(const Lesson& lesson, const char* name) {
  return kRoot / "solutions" / lesson.name() / name;
}

bool has_drill(const Lesson& lesson) {
  return std::filesystem::exists(solution_file(lesson, "drill.md"));
}

std::string shown(const std::filesystem::path& path) {
  const std::filesystem::path relative = path.lexically_relative(kRoot);
  return relative.string().starts_with("..") ? path.string() : relative.string();
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) fail(ExitCode::no_input, "{} cannot be read", path.string());
  return content.str();
}

}  // namespace shardlings
