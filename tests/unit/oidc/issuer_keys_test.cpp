#include "torchwatch/oidc/issuer_keys.hpp"

#include <catch2/catch.hpp>

#include "fake_clock.hpp"
#include "fake_http_client.hpp"
#include "signing_key.hpp"

using namespace torchwatch;
using namespace torchwatch::oidc;
using namespace std::chrono_literals;
using nlohmann::json;
using test::SigningKey;

namespace {

const std::string kIssuer = "https://issuer.example";

/// An issuer, and who asks it for its keys.
struct Asking {
  test::FakeClock clock;
  std::vector<json> published;
  json discovery{{"issuer", kIssuer}, {"jwks_uri", kIssuer + "/keys"}};
  bool is_up = true;
  int asked = 0;
  test::FakeHttpClient client{
      [this](const platform::HttpRequest& request) -> Result<platform::HttpResponse> {
        if (!is_up) return fail(ErrorCode::unavailable, "no route to host");
        if (request.url == kIssuer + "/.well-known/openid-configuration") {
          ++asked;
          return test::answer(200, discovery.dump());
        }
        return request.url == kIssuer + "/keys" ? test::answer(200, test::set_of(published))
                                                : test::answer(404);
      }};
  IssuerKeys keys{{kIssuer}, client, clock};
};

const SigningKey& first() {
  static const SigningKey key("first");
  return key;
}

}  // namespace

TEST_CASE_METHOD(Asking, "an issuer's keys are fetched ahead, with limits of size and time") {
  published = {first().published()};
  CHECK(keys.refresh({}).empty());
  CHECK(keys.find(kIssuer, "first")->starts_with("-----BEGIN PUBLIC KEY-----"));
  CHECK_FALSE(keys.find("https://other.example", "first"));
  for (const auto& request : client.requests()) {
    CHECK(request.time_limit <= 10s);
    CHECK(request.response_bytes_max <= 256U << 10U);
  }
}

TEST_CASE_METHOD(Asking, "an unknown key is asked for at most once a minute") {
  published = {first().published()};
  keys.refresh({});
  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(keys.find(kIssuer, "second"));
    keys.refresh({});
    clock.advance(1s);
  }
  CHECK(asked == 2);
}

TEST_CASE_METHOD(Asking, "a new key is known after the next look, and a withdrawn one is not") {
  published = {first().published()};
  keys.refresh({});
  const SigningKey second("second");
  published = {second.published()};
  CHECK_FALSE(keys.find(kIssuer, "second"));
  clock.advance(1min);
  keys.refresh({});
  CHECK(keys.find(kIssuer, "second"));
  CHECK_FALSE(keys.find(kIssuer, "first"));
}

TEST_CASE_METHOD(Asking, "without a reason an issuer is asked once an hour") {
  published = {first().published()};
  keys.refresh({});
  clock.advance(59min);
  keys.refresh({});
  CHECK(asked == 1);
  clock.advance(1min);
  keys.refresh({});
  CHECK(asked == 2);
}

TEST_CASE_METHOD(Asking, "keys last a day without a word of their issuer") {
  published = {first().published()};
  keys.refresh({});
  is_up = false;
  clock.advance(23h);
  CHECK(keys.refresh({}).find("https://issuer.example cannot be fetched") != std::string::npos);
  CHECK(keys.find(kIssuer, "first"));
  clock.advance(2h);
  keys.refresh({});
  CHECK_FALSE(keys.find(kIssuer, "first"));
  is_up = true;
  clock.advance(1min);
  CHECK(keys.refresh({}).empty());
  CHECK(keys.find(kIssuer, "first"));
}

TEST_CASE_METHOD(Asking,
                 "a discovery document of another issuer, or with unsafe keys, is refused") {
  published = {first().published()};
  discovery["issuer"] =
      GENERATE(as<std::string>{}, "https://issuer.example/", "https://evil.example");
  CHECK(keys.refresh({}).find("another issuer's") != std::string::npos);
  clock.advance(1min);
  discovery["issuer"] = kIssuer;
  discovery["jwks_uri"] = GENERATE(as<std::string>{}, "http://issuer.example/keys",
                                   "file:///etc/passwd", "http://127.0.0.1@evil.example/keys");
  CHECK(keys.refresh({}).find("neither at https") != std::string::npos);
  CHECK_FALSE(keys.find(kIssuer, "first"));
}

TEST_CASE_METHOD(Asking, "keys of other kinds, for other uses or too short are left out") {
  static const SigningKey small("small", 1'024);
  auto for_encryption = first().published();
  for_encryption["use"] = "enc";
  for_encryption["kid"] = "enc";
  auto of_other_algorithm = first().published();
  of_other_algorithm["alg"] = "RS512";
  of_other_algorithm["kid"] = "rs512";
  auto broken = first().published();
  broken["n"] = "not base64!";
  broken["kid"] = "broken";
  const json secret{{"kty", "oct"}, {"kid", "secret"}, {"k", "AAAA"}};
  published = {small.published(), for_encryption, of_other_algorithm, broken, secret, json(7)};
  CHECK(keys.refresh({}).find("no RSA key of 2,048 bits") != std::string::npos);
  published.push_back(first().published());
  clock.advance(1min);
  CHECK(keys.refresh({}).empty());
  CHECK(keys.find(kIssuer, "first"));
  for (const auto* id : {"small", "enc", "rs512", "broken", "secret"}) {
    CHECK_FALSE(keys.find(kIssuer, id));
  }
}

TEST_CASE("an issuer is asked over https, or on this machine") {
  for (const auto* address : {"https://issuer.example", "http://127.0.0.1:8080/x",
                              "http://localhost:1", "http://[::1]:2/keys"}) {
    CHECK(is_safe_address(address));
  }
  for (const auto* address :
       {"http://issuer.example", "http://127.0.0.1.evil.example", "https://user@issuer.example",
        "http://localhost@evil.example", "ftp://127.0.0.1", "https://", "", "127.0.0.1"}) {
    CHECK_FALSE(is_safe_address(address));
  }
}
