#include "torchwatch/records/printable.hpp"

#include <catch2/catch.hpp>

using torchwatch::printable;

TEST_CASE("text with its line breaks, tabs and letters of all alphabets stays as it is") {
  for (const char* text : {"", "one\n\ttwo", "gr\u00f6\u00dfer \u2013 \u6f22 \U0001F600"}) {
    CHECK(printable(text) == text);
  }
}

TEST_CASE("no control character is left, of one byte or of two") {
  CHECK(printable("a\033[2Jb") == "a?[2Jb");
  CHECK(printable("a\rb\bc\x7f") == "a?b?c?");
  CHECK(printable("a\u009b2J\u0085") == "a?2J?");
  CHECK(printable(std::string_view("\0", 1)) == "?");
}

TEST_CASE("a byte that is no UTF-8 becomes a question mark, and the text behind it stays") {
  CHECK(printable("a\xff\xc0\xafz") == "a???z");
  CHECK(printable("cut \xe6\xbc") == "cut ??");
  CHECK(printable("\xed\xa0\x80|\xf4\x90\x80\x80|\xe0\x80\x80") == "???|????|???");
}
