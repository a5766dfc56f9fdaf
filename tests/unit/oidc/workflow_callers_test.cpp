#include "torchwatch/oidc/workflow_callers.hpp"

#include <catch2/catch.hpp>
#include <sstream>

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

const SigningKey& issuers_key() {
  static const SigningKey key("first");
  return key;
}

config::TrustedWorkflow entry() {
  return {.issuer = kIssuer,
          .audience = "https://perf.example.org",
          .repository_id = "74",
          .ref = "refs/heads/main",
          .job_workflow_ref = "owner/name/.github/workflows/nightly.yml@refs/heads/main",
          .scopes = {Scope::read, Scope::measure}};
}

/// A service that trusts one workflow and has its issuer's key, and tokens as GitHub makes them.
struct Calling {
  test::FakeClock clock;
  test::FakeHttpClient client{
      [](const platform::HttpRequest& request) -> Result<platform::HttpResponse> {
        if (request.url.ends_with("/keys")) {
          return test::answer(200, test::set_of({issuers_key().published()}));
        }
        return test::answer(200, json{{"issuer", kIssuer}, {"jwks_uri", kIssuer + "/keys"}}.dump());
      }};
  IssuerKeys keys{{kIssuer}, client, clock};
  std::ostringstream logged;
  log::Log log{{.level = log::Level::debug}, logged};
  WorkflowCallers callers{{entry()}, keys, clock, log.logger("oidc")};

  Calling() {
    keys.refresh({});
    clock.advance(1min);
  }

  std::int64_t now() const { return clock.wall_now() / 1'000; }

  json claims(const json& changes = json::object()) const {
    json all{{"iss", kIssuer},
             {"aud", "https://perf.example.org"},
             {"repository_id", "74"},
             {"repository", "owner/name"},
             {"ref", "refs/heads/main"},
             {"job_workflow_ref", "owner/name/.github/workflows/nightly.yml@refs/heads/main"},
             {"jti", "one"},
             {"iat", now()},
             {"nbf", now() - 5},
             {"exp", now() + 300}};
    all.update(changes);
    return all;
  }

  bool is_let_in(const json& changes) {
    return callers.find(issuers_key().sign(claims(changes))).has_value();
  }
};

}  // namespace

TEST_CASE_METHOD(Calling, "a workflow that is listed is known by its repository and ref") {
  const auto caller = callers.find(issuers_key().sign(claims()));
  REQUIRE(caller);
  CHECK(caller->name == "actions owner/name@refs/heads/main");
  CHECK(caller->scopes == Scopes{Scope::read, Scope::measure});
}

TEST_CASE_METHOD(Calling, "a token that differs in one claim is nobody's") {
  const auto name =
      GENERATE(as<std::string>{}, "iss", "aud", "repository_id", "ref", "job_workflow_ref");
  const auto right = claims().at(name).get<std::string>();
  for (const json& value : {json(right + "x"), json(right.substr(1)), json(""), json(nullptr),
                            json(74), json::array({right}), json{{"a", right}}}) {
    INFO(name << " is " << value);
    CHECK_FALSE(is_let_in({{name, value}}));
  }
  auto without = claims();
  without.erase(name);
  CHECK_FALSE(callers.find(issuers_key().sign(without)));
  CHECK(is_let_in(json::object()));
}

TEST_CASE_METHOD(Calling, "what fits two entries only together fits none") {
  auto other = entry();
  other.repository_id = "75";
  other.ref = "refs/heads/other";
  WorkflowCallers both({entry(), other}, keys, clock);
  const auto finds = [&](const json& changes) {
    return both.find(issuers_key().sign(claims(changes))).has_value();
  };
  CHECK(finds({{"repository_id", "75"}, {"ref", "refs/heads/other"}}));
  CHECK_FALSE(finds({{"repository_id", "75"}}));
  CHECK_FALSE(finds({{"ref", "refs/heads/other"}}));
}

TEST_CASE_METHOD(Calling,
                 "an entry with an empty claim trusts nobody, and no entry nobody at all") {
  auto open = entry();
  open.job_workflow_ref.clear();
  WorkflowCallers careless({open}, keys, clock);
  CHECK_FALSE(careless.find(issuers_key().sign(claims({{"job_workflow_ref", ""}}))));
  CHECK_FALSE(careless.find(issuers_key().sign(claims())));
  WorkflowCallers nobody({}, keys, clock);
  CHECK_FALSE(nobody.find(issuers_key().sign(claims())));
}

TEST_CASE_METHOD(Calling, "a token counts only in its time, with half a minute of leeway") {
  CHECK(is_let_in({{"exp", now() - 29}}));
  CHECK_FALSE(is_let_in({{"exp", now() - 30}}));
  CHECK(is_let_in({{"nbf", now() + 30}}));
  CHECK_FALSE(is_let_in({{"nbf", now() + 31}}));
  CHECK(is_let_in({{"iat", now() + 30}}));
  CHECK_FALSE(is_let_in({{"iat", now() + 31}}));
  CHECK_FALSE(is_let_in({{"exp", now() + 3'601}}));
  for (const auto* name : {"exp", "iat", "nbf"}) {
    INFO(name);
    for (const json& value : {json("soon"), json(-1), json(1e300), json(nullptr), json(0),
                              json(std::numeric_limits<std::int64_t>::max())}) {
      CHECK_FALSE(is_let_in({{name, value}}));
    }
  }
  auto timeless = claims();
  timeless.erase("exp");
  CHECK_FALSE(callers.find(issuers_key().sign(timeless)));
}

TEST_CASE_METHOD(Calling, "a token that was let in is refused after its end") {
  const auto token = issuers_key().sign(claims());
  CHECK(callers.find(token));
  clock.advance(329s);
  CHECK(callers.find(token));
  clock.advance(1s);
  CHECK_FALSE(callers.find(token));
}

TEST_CASE_METHOD(Calling, "no other algorithm is taken for a signature") {
  CHECK_FALSE(callers.find(issuers_key().leave_unsigned(claims())));
  CHECK_FALSE(callers.find(issuers_key().sign_with_public_key(claims())));
  const SigningKey forged("first");
  CHECK_FALSE(callers.find(forged.sign(claims())));
  const SigningKey unknown("unknown");
  CHECK_FALSE(callers.find(unknown.sign(claims())));
  CHECK_FALSE(callers.find(issuers_key().sign(claims(), {{"crit", {"x"}}})));
  CHECK_FALSE(callers.find(issuers_key().sign(claims(), {{"kid", 7}})));
}

TEST_CASE_METHOD(Calling, "a token of which one letter was changed is nobody's") {
  const auto token = issuers_key().sign(claims());
  const auto signature = token.rfind('.') + 1;
  for (std::size_t at = 0; at + 1 < token.size(); at += at < signature ? 7 : 31) {
    auto changed = token;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    INFO(at);
    CHECK(callers.find(changed).has_value() == (changed == token));
  }
  for (const auto& text :
       {token.substr(0, signature), token.substr(0, signature - 1), token + ".x",
        std::string("a.b.c"), std::string(".."), std::string(9'000, '.'), token + "A"}) {
    CHECK_FALSE(callers.find(text));
  }
}

TEST_CASE_METHOD(Calling, "a token changes something once, and reads as often as it likes") {
  const auto token = issuers_key().sign(claims());
  for (int i = 0; i < 3; ++i) CHECK(callers.find(token));
  CHECK(callers.spend(*callers.find(token)));
  CHECK_FALSE(callers.spend(*callers.find(token)));
  // Signed anew it is another text with the same jti.
  const auto again = issuers_key().sign(claims({{"exp", now() + 200}}));
  CHECK_FALSE(callers.spend(*callers.find(again)));
  CHECK(callers.find(token));
  CHECK(callers.spend(*callers.find(issuers_key().sign(claims({{"jti", "two"}})))));
  CHECK_FALSE(is_let_in({{"jti", ""}}));
}

TEST_CASE_METHOD(Calling, "a token from before a restart may read, as it may have been used") {
  const auto token = issuers_key().sign(claims());
  CHECK(callers.spend(*callers.find(token)));
  WorkflowCallers restarted({entry()}, keys, clock);
  const auto caller = restarted.find(token);
  REQUIRE(caller);
  CHECK_FALSE(restarted.spend(*caller));
  clock.advance(31s);
  CHECK(restarted.spend(*restarted.find(issuers_key().sign(claims({{"jti", "new"}})))));
}

TEST_CASE_METHOD(Calling, "a flood of wrong signatures costs at most fifty a second") {
  const SigningKey forged("first");
  for (int i = 0; i < 60; ++i) {
    CHECK_FALSE(callers.find(forged.sign(claims({{"jti", std::to_string(i)}}))));
  }
  CHECK_FALSE(callers.find(issuers_key().sign(claims())));
  clock.advance(1s);
  CHECK(callers.find(issuers_key().sign(claims())));
}

TEST_CASE_METHOD(Calling, "the log says why a token was refused, once a second and without it") {
  const auto token = issuers_key().sign(claims({{"ref", "refs/heads/\nevil"}}));
  for (int i = 0; i < 5; ++i) callers.find(token);
  const auto text = logged.str();
  CHECK(std::ranges::count(text, '\n') == 1);
  CHECK(text.find("no [[web.oidc]] lists its ref") != std::string::npos);
  CHECK(text.find(token.substr(token.rfind('.'))) == std::string::npos);
}

TEST_CASE_METHOD(Calling, "a repository with an impossible name is not shown as a caller") {
  for (const auto* name : {"owner", "a/b/c", "owner/na me", "owner/<b>", ""}) {
    CHECK_FALSE(is_let_in({{"repository", name}}));
  }
}
