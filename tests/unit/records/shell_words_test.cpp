#include "torchwatch/records/shell_words.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;

TEST_CASE("a word that a shell would divide or read as more is quoted, a plain one is not") {
  CHECK(shell_word("2.14.0.dev20260817") == "2.14.0.dev20260817");
  CHECK(shell_word("machine=Model X, 2 cores") == "'machine=Model X, 2 cores'");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("it's $(rm -r /)") == "'it'\\''s $(rm -r /)'");
  CHECK(shell_word("a\nb") == "'a\nb'");
}
