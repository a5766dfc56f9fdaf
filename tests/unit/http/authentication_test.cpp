#include "authentication.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "fake_clock.hpp"
#include "fake_random.hpp"
#include "torchwatch/http/server.hpp"

using namespace torchwatch;
using namespace torchwatch::http;

namespace {

/// "right" may do everything, "reader" may read.
TokenHolder known_tokens() {
  return {.find = [](const std::string& sha256) -> std::optional<Identity> {
    if (sha256 == hash_token("right")) return Identity{1, all_scopes()};
    if (sha256 == hash_token("reader")) return Identity{2, {Scope::read}};
    return std::nullopt;
  }};
}

struct Gate {
  test::FakeClock clock;
  Authentication authentication{known_tokens(), true, false, clock};

  int status(const std::string& authorization, const std::string& address = "192.0.2.1",
             Scope needed = Scope::measure) {
    Request request;
    request.authorization = authorization;
    request.remote_address = address;
    const auto refusal = authentication.refusal_of(request, needed);
    return refusal ? refusal->status : 200;
  }
};

}  // namespace

TEST_CASE("a token is hashed as everybody hashes") {
  CHECK(hash_token("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE_METHOD(Gate, "only the right token opens, in any spelling of the scheme") {
  CHECK(status("Bearer right") == 200);
  CHECK(status("bearer right") == 200);
  CHECK(status("") == 401);
  CHECK(status("Bearer ") == 401);
  CHECK(status("Bearer right ") == 401);
  CHECK(status("Basic right") == 401);
}

TEST_CASE_METHOD(Gate, "five wrong tokens are answered, further ones of that address must wait") {
  for (int i = 0; i < 5; ++i) CHECK(status("Bearer wrong") == 401);
  CHECK(status("Bearer wrong") == 429);
  CHECK(status("Bearer wrong", "192.0.2.2") == 401);
  clock.advance(std::chrono::seconds(13));
  CHECK(status("Bearer wrong") == 401);
}

TEST_CASE_METHOD(Gate, "wrong tokens never shut out the right one of the same address") {
  for (int i = 0; i < 100; ++i) status("Bearer wrong");
  CHECK(status("Bearer right") == 200);
}

TEST_CASE_METHOD(Gate, "the addresses of one IPv6 network share their failures") {
  for (int i = 0; i < 5; ++i) {
    CHECK(status("Bearer wrong", "2001:db8::" + std::to_string(i)) == 401);
  }
  CHECK(status("Bearer wrong", "2001:db8::9") == 429);
  CHECK(status("Bearer wrong", "2001:db8:0:1::9") == 401);
}

TEST_CASE("who reads too much must wait, others and probes need not") {
  test::FakeClock clock;
  ReadBudget budget(10, clock);
  const Origin busy{.address = "192.0.2.1", .is_local = false, .user = {}};
  const Origin other{.address = "192.0.2.2", .is_local = false, .user = {}};
  const Head page{.method = "GET", .path = "/", .authorization = {}, .forwarded_for = {}};
  const Head probe{.method = "GET", .path = "/healthz", .authorization = {}, .forwarded_for = {}};
  for (int i = 0; i < 100; ++i) CHECK_FALSE(budget.refusal_of(page, busy));
  const auto refusal = budget.refusal_of(page, busy);
  REQUIRE(refusal);
  CHECK(refusal->status == 429);
  CHECK(refusal->headers.at("Retry-After") == "1");
  CHECK_FALSE(budget.refusal_of(page, other));
  CHECK_FALSE(budget.refusal_of(probe, busy));
  clock.advance(std::chrono::seconds(1));
  CHECK_FALSE(budget.refusal_of(page, busy));
}

TEST_CASE_METHOD(Gate, "a token does what its scopes say, and every token reads") {
  CHECK(status("Bearer reader", "192.0.2.1", Scope::read) == 200);
  CHECK(status("Bearer reader", "192.0.2.1", Scope::triage) == 403);
  CHECK(status("Bearer reader") == 403);
  CHECK(status("Bearer right", "192.0.2.1", Scope::admin) == 200);
}

TEST_CASE("without a token who may read depends on where the request comes from") {
  const test::FakeClock clock;
  const bool local_may_read = GENERATE(true, false);
  const bool others_may_read = GENERATE(true, false);
  Authentication gate(known_tokens(), local_may_read, others_may_read, clock);
  for (const bool is_local : {true, false}) {
    Request request;
    request.is_local = is_local;
    const bool may_read = is_local ? local_may_read : others_may_read;
    CHECK(gate.refusal_of(request, Scope::read).has_value() == !may_read);
    CHECK(gate.refusal_of(request, Scope::measure)->status == 401);
    request.authorization = "Bearer revoked";
    CHECK(gate.refusal_of(request, Scope::read)->status == 401);
    request.peer = 1000;
    CHECK_FALSE(gate.refusal_of(request, Scope::admin));
  }
}

TEST_CASE("where no token is known nothing can be written") {
  const test::FakeClock clock;
  Authentication closed({}, true, true, clock);
  Request request;
  request.authorization = "Bearer ";
  CHECK(closed.refusal_of(request, Scope::measure)->status == 401);
}

TEST_CASE("tokens are long, made of random bits, and easy to find in a text") {
  test::FakeRandom random;
  const auto token = make_token(random);
  CHECK(token.starts_with("tw_"));
  CHECK(token.size() == 3 + 64);
  CHECK(make_token(random) != token);
}

namespace {

/// "signed-..." is a workflow's token, which changes something once; "right" is as above.
struct SignedGate {
  test::FakeClock clock;
  std::set<std::string> spent;
  std::vector<std::string> asked;
  Authentication authentication{holder(), true, false, clock};

  TokenHolder holder() {
    auto tokens = known_tokens();
    tokens.find_signed = [this](const std::string& token) -> std::optional<Identity> {
      asked.push_back(token);
      if (!token.starts_with("signed-")) return std::nullopt;
      return Identity{.scopes = {Scope::measure},
                      .name = "actions owner/name@refs/heads/main",
                      .once = OneUse{.id = token, .expires_at_s = 1}};
    };
    tokens.spend = [this](const Identity& identity) {
      return spent.insert(identity.once->id).second;
    };
    return tokens;
  }

  int status(const std::string& token, Scope needed) {
    Request request;
    request.authorization = "Bearer " + token;
    request.remote_address = "192.0.2.1";
    const auto refusal = authentication.refusal_of(request, needed);
    return refusal ? refusal->status : 200;
  }
};

}  // namespace

TEST_CASE_METHOD(SignedGate,
                 "a signed token reads as often as it likes and changes something once") {
  for (int i = 0; i < 3; ++i) CHECK(status("signed-1", Scope::read) == 200);
  CHECK(status("signed-1", Scope::triage) == 403);
  CHECK(spent.empty());
  CHECK(status("signed-1", Scope::measure) == 200);
  CHECK(status("signed-1", Scope::measure) == 401);
  CHECK(status("signed-1", Scope::read) == 200);
  CHECK(status("signed-2", Scope::measure) == 200);
  for (int i = 0; i < 10; ++i) CHECK(status("right", Scope::measure) == 200);
}

TEST_CASE_METHOD(SignedGate, "a token that was spent does not count as a wrong one") {
  CHECK(status("signed-1", Scope::measure) == 200);
  for (int i = 0; i < 20; ++i) CHECK(status("signed-1", Scope::measure) == 401);
  CHECK(status("wrong", Scope::measure) == 401);
}

TEST_CASE_METHOD(SignedGate, "a long token is asked about by its signature alone, up to 8 KiB") {
  CHECK(status("right", Scope::measure) == 200);
  CHECK(asked.empty());
  CHECK(status("signed-" + std::string(2'000, 'a'), Scope::measure) == 200);
  CHECK(asked.size() == 1);
  CHECK(status("signed-" + std::string(8'200, 'a'), Scope::measure) == 401);
  CHECK(asked.size() == 1);
}

TEST_CASE("who is signed in may do on pages what the token may, and nothing elsewhere") {
  test::FakeClock clock;
  auto tokens = known_tokens();
  tokens.find_signed_in = [](const Request& request) {
    return request.cookie == "right"
               ? std::optional(Identity{
                     .token = 1, .scopes = {Scope::triage}, .name = "ada", .form_key = "key"})
               : std::nullopt;
  };
  Authentication authentication(tokens, false, false, clock);
  Request request;
  request.cookie = "right";
  constexpr bool kIsPage = true;
  CHECK_FALSE(authentication.refusal_of(request, Scope::read, kIsPage));
  CHECK(authentication.refusal_of(request, Scope::measure, kIsPage)->status == 403);
  CHECK(authentication.refusal_of(request, Scope::read)->status == 401);
  request.authorization = "Bearer wrong";  // a header is meant: the cookie does not save it
  CHECK(authentication.refusal_of(request, Scope::read, kIsPage)->status == 401);
  request = {};
  request.cookie = "wrong";
  CHECK(authentication.refusal_of(request, Scope::read, kIsPage)->status == 401);
}
