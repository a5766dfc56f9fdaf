#include "url.hpp"

#include <catch2/catch.hpp>

using torchwatch::ErrorCode;
using torchwatch::platform::parse_url;

TEST_CASE("a URL is taken apart into its origin and its target") {
  struct Case {
    const char* text;
    const char* origin;
    const char* target;
  };
  const Case cases[] = {
      {"https://api.github.com/repos/a/b?x=1&y=%20", "https://api.github.com",
       "/repos/a/b?x=1&y=%20"},
      {"http://127.0.0.1:8080", "http://127.0.0.1:8080", "/"},
      {"http://[::1]:80/x", "http://[::1]:80", "/x"},
      {"https://host?q=1", "https://host", "/?q=1"},
      {"https://host/path#fragment", "https://host", "/path"},
      {"https://host/a@b", "https://host", "/a@b"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto url = parse_url(c.text);
    REQUIRE(url);
    CHECK(url->origin == c.origin);
    CHECK(url->target == c.target);
  }
}

TEST_CASE("a URL that could carry something else along is refused") {
  for (const char* const text :
       {"", "host/path", "ftp://host/", "https://", "https:///path", "https://:80/", "HTTPS//x",
        "https://host/a b", "https://host/\r\nX: y", "https://host/\xc3\xa4",
        "https://user:secret@host/"}) {
    INFO(text);
    const auto url = parse_url(text);
    REQUIRE_FALSE(url);
    CHECK(url.error().code == ErrorCode::invalid);
    CHECK(url.error().message.find("secret") == std::string::npos);
  }
}
