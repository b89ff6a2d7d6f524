#include "base/units.h"

#include "base/check.h"
#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("sizes are written with three digits and a unit") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1024) == "1.00 KiB");
  CHECK(format_bytes(48 << 20) == "48.0 MiB");
  CHECK(format_bytes(1048575) == "1.00 MiB");
  CHECK(format_bytes(std::int64_t{350} << 30) == "350 GiB");
}

TEST_CASE("counts are grouped by thousands") {
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(-1234567) == "-1,234,567");
  CHECK(format_count(-123) == "-123");
}

TEST_CASE("durations") {
  CHECK(format_duration(0.84) == "0.8 s");
  CHECK(format_duration(59.4) == "59 s");
  CHECK(format_duration(59.6) == "1 min 00 s");
  CHECK(format_duration(3725) == "1 h 02 min");
}

TEST_CASE("sizes are read whole or refused") {
  CHECK(parse_bytes("48MiB") == 48 << 20);
  CHECK(parse_bytes("1.5 GiB") == 1610612736);
  CHECK(parse_bytes("4096") == 4096);
  CHECK(parse_bytes("2kB") == 2000);
  for (const char* bad :
       {"", "MiB", "12abc", "-1", "0", "1e30", "nan", "inf", "1,5GiB", "48 mib", " 4"})
    CHECK_THROWS_AS(parse_bytes(bad), Error);
}

TEST_CASE("numbers are read whole or refused") {
  CHECK(parse_integer("-12", "--seed") == -12);
  CHECK(parse_number("1e-3", "--learning-rate") == 1e-3);
  for (const char* bad : {"", "12abc", "1e9", "1.0", " 1", "+1", "99999999999999999999"})
    CHECK_THROWS_WITH(parse_integer(bad, "--steps"),
                      "--steps: expected a whole number, got \"" + std::string(bad) + "\"");
  for (const char* bad : {"", "x", "inf", "nan", "1,5"})
    CHECK_THROWS_AS(parse_number(bad, "--clip"), Error);
}
