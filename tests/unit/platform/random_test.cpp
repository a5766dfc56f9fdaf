#include "torchwatch/platform/random.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "fake_random.hpp"
#include "torchwatch/records/hex.hpp"

using namespace torchwatch;

TEST_CASE("a token is two lower-case hex digits for each byte") {
  platform::SystemRandom random;
  for (const std::size_t bytes : {0U, 1U, 7U, 8U, 16U, 33U}) {
    const std::string token = random.token(bytes);
    CHECK(is_hex(token, 2 * bytes, 2 * bytes));
  }
}

TEST_CASE("a thousand tokens are a thousand different tokens") {
  platform::SystemRandom random;
  std::set<std::string> tokens;
  for (int i = 0; i < 1000; ++i) tokens.insert(random.token());
  CHECK(tokens.size() == 1000);
}

TEST_CASE("the fake's numbers repeat with its seed and differ between seeds") {
  test::FakeRandom one(5);
  test::FakeRandom same(5);
  test::FakeRandom other(6);
  const std::string token = one.token();
  CHECK(token == same.token());
  CHECK(token != other.token());
}
