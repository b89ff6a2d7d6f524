// What is kept of a measurement: a JSON object, one line of a file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "storage/json.h"

namespace shardlings {

using Record = Json::Object;

// With what every record begins: "kind", and where and when it was made ("processor", "cores",
// "compiler", "date").
Record new_record(std::string_view kind);

// Adds a line to the file. Errors: Error(io).
void keep(const std::filesystem::path& file, const Record& record);

// Errors: Error(no_input), Error(bad_data).
std::vector<Record> records_in(const std::filesystem::path& file);

// A member of that name. Errors: Error(bad_data) when there is none of that type.
std::string word(const Record& record, std::string_view name);
double number(const Record& record, std::string_view name);

}  // namespace shardlings
