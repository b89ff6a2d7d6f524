#include "tools/driver/catalogue.h"

#include <filesystem>
#include <vector>

#include "base/check.h"
#include "base/suggest.h"
#include "configured.h"

namespace shardlings {

std::string Lesson::name() const {
  return fmt::format("{}_{}", id, slug);
}

std::span<const Lesson> lessons() {
  return kLessons;
}

const Lesson& lesson_named(std::string_view text) {
  std::vector<std::string_view> slugs;
  for (const Lesson& lesson : lessons()) {
    const bool short_id = lesson.id.starts_with('0') && text == lesson.id.substr(1);
    if (text == lesson.id || short_id || text == lesson.slug || text == lesson.name())
      return lesson;
    slugs.push_back(lesson.slug);
  }
  const std::string slug = nearest(text, slugs);
  fail(ExitCode::usage, "there is no lesson \"{}\"; {}", text,
       slug.empty() ? "./shardlings list shows those there are" : "did you mean " + slug + "?");
}

bool has_run(const Lesson& lesson) {
  std::error_code unreadable;  // counts as not there
  return std::filesystem::exists(
      std::filesystem::path(kSourceFolder) / "runs" / lesson.name() / "report.json", unreadable);
}

}  // namespace shardlings
