#include "tools/driver/lesson_files.h"

#include <fstream>
#include <sstream>

#include "base/check.h"
#include "configured.h"

namespace shardlings {

namespace {

const std::filesystem::path kRoot = kSourceFolder;

}  // namespace

std::filesystem::path lesson_file(const Lesson& lesson, const char* name) {
  return kRoot / "lessons" / lesson.name() / name;
}

std::filesystem::path exercise_file(const Lesson& lesson, const char* name) {
  return kRoot / "exercises" / lesson.name() / name;
}

std::filesystem::path solution_file(const Lesson& lesson, const char* name) {
  return kRoot / "solutions" / lesson.name() / name;
}

bool has_drill(const Lesson& lesson) {
  return std::filesystem::exists(solution_file(lesson, "drill.md"));
}

std::string shown(const std::filesystem::path& path) {
  return path.lexically_relative(kRoot).string();
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) fail(ExitCode::no_input, "{} cannot be read", path.string());
  return content.str();
}

}  // namespace shardlings
