#include "torchwatch/records/hex.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;

TEST_CASE("bytes and numbers are written as lower-case hex digits, none left out") {
  CHECK(hex_of(std::string_view("\x00\x0f\xa5\xff", 4)) == "000fa5ff");
  CHECK(hex_of(std::string_view()).empty());
  CHECK(hex_of(std::uint64_t{0}) == "0000000000000000");
  CHECK(hex_of(std::uint64_t{0xcbf29ce484222325U}) == "cbf29ce484222325");
}

TEST_CASE("a hex text has lower-case digits alone, as many as are allowed") {
  CHECK(is_hex("0af9", 4, 4));
  CHECK(is_hex("0af9", 1, 40));
  CHECK_FALSE(is_hex("0af9", 5, 40));
  CHECK_FALSE(is_hex("0af9", 1, 3));
  CHECK_FALSE(is_hex("0aF9", 1, 40));
  CHECK_FALSE(is_hex("0xf9", 1, 40));
}

TEST_CASE("a commit's whole name has the digits of SHA-1 or of SHA-256") {
  CHECK(is_commit(std::string(40, 'a')));
  CHECK(is_commit(std::string(64, '7')));
  for (const auto digits : {0, 12, 39, 41, 63, 65}) {
    INFO(digits);
    CHECK_FALSE(is_commit(std::string(static_cast<std::size_t>(digits), 'a')));
  }
  CHECK_FALSE(is_commit(std::string(39, 'a') + "g"));
}

TEST_CASE("a commit is shown by its first twelve digits") {
  CHECK(short_sha("33de6cd2393f0123456789012345678901234567") == "33de6cd2393f");
  CHECK(short_sha("33de").size() == 4);
  CHECK(short_sha("").empty());
}
