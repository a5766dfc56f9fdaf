#include <catch2/catch.hpp>

#include "torchwatch/log/log.hpp"

using torchwatch::log::redact;

TEST_CASE("what looks like a credential is redacted, though nobody named it") {
  for (const auto* text : {
           "sent Bearer s3cret-s3cret",
           "sent bearer s3cret-s3cret",
           "Authorization: Basic s3cret-s3cret",
           "authorization: \"Digest user=s3cret-s3cret\"",
           "{\"Authorization\":\"token s3cret-s3cret\"}",
           "token=s3cret-s3cret",
           "password: s3cret-s3cret",
           "https://s3cret-s3cret@github.com/owner/name",
           "https://user:s3cret-s3cret@github.com/owner/name",
           "https://user:s3cret@s3cret@github.com/owner/name",
           "-----BEGIN RSA PRIVATE KEY-----s3cret-s3cret-----END RSA PRIVATE KEY-----",
           "-----BEGIN PRIVATE KEY-----s3cret-s3cret",
       }) {
    INFO(text);
    CHECK(redact(text).find("s3cret") == std::string::npos);
    CHECK(redact(text).find("[redacted]") != std::string::npos);
  }
}

TEST_CASE("GitHub's tokens are known by their prefixes") {
  CHECK(redact("no ghp_0123456789abcdef here") == "no [redacted] here");
  CHECK(redact("(github_pat_11AAAAAAA_bbbbbbbb)") == "([redacted])");
  CHECK(redact("ghs_a-token-for-tests") == "[redacted]");
}

TEST_CASE("a JSON web token is known by its form") {
  const std::string token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2lnbmF0dXJl-_c2ln";
  CHECK(redact("sent " + token + ", refused") == "sent [redacted], refused");
  CHECK(redact("eyJ is how JSON begins") == "eyJ is how JSON begins");
}

TEST_CASE("prose about credentials stays readable") {
  for (const auto* text :
       {"the token was rejected (expired or revoked?)", "basic authentication is not supported",
        "token_file is not set", "authorization failed", "https://github.com/owner/name",
        "ghs_ is a prefix", "-----BEGIN CERTIFICATE-----abc", "mail a@b.example: nothing", ""}) {
    CHECK(redact(text) == text);
  }
}

TEST_CASE("a known secret is redacted wherever it stands, also within a word") {
  const std::vector<std::string> secrets{"hunter2hunter2", "hunter2"};
  CHECK(redact("xhunter2hunter2y hunter2", secrets) == "x[redacted]y [redacted]");
}
