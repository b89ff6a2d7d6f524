#include "course/text.h"

#include "course/table.h"
#include "tests/support/catch.h"

using namespace shardlings;

TEST_CASE("width is columns, not bytes") {
  CHECK(display_width("") == 0);
  CHECK(display_width("loss") == 4);
  CHECK(display_width("é · ×") == 5);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("物語.txt") == 8);
  CHECK(display_width("\U0001f642") == 2);
  CHECK(display_width("\x1b[31mFAILED\x1b[0m") == 6);
  CHECK(display_width("\xff\xc3") == 2);  // not UTF-8: a column each, and no reading past the end
  CHECK(display_width("\xc3 A") == 3);
  CHECK(display_width(std::string_view("é").substr(0, 1)) == 1);
}

TEST_CASE("text is cut and padded between characters") {
  CHECK(prefix_of_width("a·b", 2) == "a·");
  CHECK(prefix_of_width("物語", 3) == "物");
  CHECK(prefix_of_width("ab", 9) == "ab");
  CHECK(prefix_of_width("ab", 0) == "");
  CHECK(pad_right("·", 3) == "·  ");
  CHECK(pad_left("·", 3) == "  ·");
  CHECK(pad_left("long", 3) == "long");
}

TEST_CASE("text wraps at spaces, and a long word where it must") {
  using Lines = std::vector<std::string>;
  CHECK(wrap("", 5) == Lines{""});
  CHECK(wrap("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrap("one two three", 80) == Lines{"one two three"});
  CHECK(wrap("abcdefgh ij", 3) == Lines{"abc", "def", "gh", "ij"});
  CHECK(wrap("物語x", 3) == Lines{"物", "語x"});
}

TEST_CASE("a table aligns its columns and leaves empty ones out") {
  const Table table{{{"name"}, {"formula"}, {"bytes", false}},
                    {{"parameters", "", "1,024"}, {"größe", "", "7"}}};
  CHECK(format_table(table, 80) ==
        "  name        bytes\n"
        "  parameters  1,024\n"
        "  größe           7\n");
  CHECK(format_table({{{"name"}}, {}}, 80) == "");
}

TEST_CASE("a table that is too wide wraps its widest text, never its numbers") {
  const Table table{{{"row"}, {"formula"}, {"bytes", false}},
                    {{"parameters", "V*D + T*D + L*(12*D^2 + 13*D) + 2*D", "12,345,678"}}};
  CHECK(format_table(table, 44) ==
        "  row         formula                  bytes\n"
        "  parameters  V*D + T*D +         12,345,678\n"
        "              L*(12*D^2 + 13*D)\n"
        "              + 2*D\n");
  const Table numbers{{{"row"}, {"bytes", false}}, {{"a short word", "1,234,567,890,123,456"}}};
  CHECK(format_table(numbers, 30) ==
        "  row                           bytes\n"
        "  a short word  1,234,567,890,123,456\n");
  CHECK(format_table(table, 10).find("12,345,678") != std::string::npos);
}
