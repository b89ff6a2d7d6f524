// A folder for one test, which goes with it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace shardlings {

class Scratch {
 public:
  Scratch() : folder_(std::filesystem::temp_directory_path() / "shardlings_XXXXXX") {
    std::string name = folder_.string();
    folder_ = ::mkdtemp(name.data());
    std::filesystem::permissions(folder_, std::filesystem::perms::others_exec,
                                 std::filesystem::perm_options::add);
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace shardlings
