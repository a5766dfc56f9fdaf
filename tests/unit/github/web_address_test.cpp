#include "torchwatch/github/web_address.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using namespace torchwatch::github;

TEST_CASE("an address is read with its default port") {
  const auto address = parse_address("https://API.github.com/repos?x=1").value();
  CHECK(address.text() == "https://api.github.com:443/repos?x=1");
  CHECK(address.has_origin_of(parse_address("https://api.github.com").value()));
  CHECK_FALSE(address.has_origin_of(parse_address("https://api.github.com:444").value()));
}

TEST_CASE("plain http is allowed to a literal loopback address only") {
  CHECK(parse_address("http://127.0.0.1:8080"));
  CHECK(parse_address("http://127.1.2.3"));
  CHECK(parse_address("http://[::1]:80/x"));
  for (const auto* url : {"http://api.github.com", "http://localhost", "http://127.evil.example",
                          "http://127.0.0.1.evil.example", "http://127.0.0.1@evil.example",
                          "http://128.0.0.1", "http://[::2]", "http://127.0.0."}) {
    INFO(url);
    CHECK_FALSE(parse_address(url));
  }
}

TEST_CASE("what is not an address is refused") {
  for (const auto* url : {"", "api.github.com", "ftp://x", "https://", "https://a b",
                          "https://x/a b", "https://user@x", "https://x:0", "https://x:99999",
                          "https://x:y", "https://x?query-without-path", "https://x/\r\nHost: y"}) {
    INFO(url);
    CHECK_FALSE(parse_address(url));
  }
}

TEST_CASE("a location is resolved like a browser does") {
  const auto base = parse_address("https://api.github.com/repos/a").value();
  CHECK(resolve(base, "/repositories/1").value().text() ==
        "https://api.github.com:443/repositories/1");
  CHECK(resolve(base, "https://other.example/x").value().host == "other.example");
  CHECK_FALSE(resolve(base, "//other.example/x"));
  CHECK_FALSE(resolve(base, "http://api.github.com/x"));
  CHECK_FALSE(resolve(base, "relative"));
}
