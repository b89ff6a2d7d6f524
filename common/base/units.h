// Sizes and counts as people read and write them. MiB and GiB are powers of two.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shardlings {

// "0 B", "812 B", "1.50 KiB", "48.0 MiB", "2.61 GiB": three digits, the unit always said.
std::string format_bytes(std::int64_t bytes);

// 1234567 -> "1,234,567".
std::string format_count(std::int64_t count);

// "0.8 s", "12 s", "3 min 20 s", "2 h 05 min".
std::string format_duration(double seconds);

// "48MiB", "1.5 GiB", "4096" (bytes), also KiB, TiB and the decimal kB, MB, GB.
// Errors: Error(usage) that quotes `text` and shows an example.
std::int64_t parse_bytes(std::string_view text);

// A whole number or a finite decimal that fills all of `text`.
// Errors: Error(usage) that names `what` and quotes `text`.
std::int64_t parse_integer(std::string_view text, std::string_view what);
double parse_number(std::string_view text, std::string_view what);

}  // namespace shardlings
