#include "torchwatch/records/printable.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;

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

TEST_CASE("a mark that turns the direction of what stands beside it is left out") {
  CHECK(printable("a\u202eb\u202c\u2066c\u2069\u200f") == "a?b??c??");
  CHECK(printable("\u2013 \u2026 \u2065") == "\u2013 \u2026 \u2065");
}

TEST_CASE("a name is shortened in its middle, and characters stay whole") {
  CHECK(elided("soft_actor_critic", 17) == "soft_actor_critic");
  CHECK(elided("soft_actor_critic", 9) == "soft…itic");
  CHECK(elided("µµµµµµ", 3) == "µ…µ");
  CHECK(characters_of(elided("µs µs µs µs", 6)) == 6);
  CHECK(elided("name", 0).empty());
}

TEST_CASE("a text is cut between characters, which may have several bytes") {
  CHECK(byte_of("name", 2) == 2);
  CHECK(byte_of("µs µs", 2) == 3);
  CHECK(byte_of("µs", 2) == 3);
  CHECK(byte_of("µs", 7) == 3);
}

TEST_CASE("prose is broken between words, and the lines after the first are indented") {
  CHECK(wrapped("one two three four", 10, 2) == "one two\n  three\n  four\n");
  CHECK(wrapped("a_word_that_is_longer_than_a_line", 10) == "a_word_that_is_longer_than_a_line\n");
  CHECK(wrapped("", 10) == "\n");
  CHECK(wrapped("see `a command with words` now", 10) == "see\n`a command with words`\nnow\n");
  CHECK(wrapped("a change of 7 % or more", 15) == "a change of\n7 % or more\n");
}
