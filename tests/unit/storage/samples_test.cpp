#include "samples.hpp"

#include <catch2/catch.hpp>
#include <cstdint>

#include "environments.hpp"
#include "torchwatch/digest/sha256.hpp"

using namespace torchwatch::storage;

TEST_CASE("SHA-256 gives the standard's test vectors") {
  REQUIRE(torchwatch::digest::sha256_hex("") ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  REQUIRE(torchwatch::digest::sha256_hex("abc") ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("samples are stored as little-endian 64-bit integers") {
  const std::string bytes("\x02\x01\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16);
  REQUIRE(encode_samples({0x0102, -1}) == bytes);
  REQUIRE(decode_samples(bytes) == std::vector<std::int64_t>{0x0102, -1});
}

TEST_CASE("every 64-bit sample survives encoding") {
  const std::vector<std::int64_t> samples{0, 1, -1, INT64_MAX, INT64_MIN, 123456789012345};
  REQUIRE(decode_samples(encode_samples(samples)) == samples);
  REQUIRE(decode_samples("").empty());
}

TEST_CASE("facts that differ have digests that differ, wherever a character is moved to") {
  REQUIRE(digest_of_facts({{"ab", "c"}}) != digest_of_facts({{"a", "bc"}}));
  REQUIRE(digest_of_facts({{"a", "1:b"}}) != digest_of_facts({{"a", "1"}, {"b", ""}}));
  REQUIRE(digest_of_facts({{"a", "b"}}) == digest_of_facts({{"a", "b"}}));
}
