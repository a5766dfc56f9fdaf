#include "torchwatch/access/token_store.hpp"

#include <catch2/catch.hpp>

#include "stores.hpp"
#include "torchwatch/access/sign_in_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

struct Tokens : FreshStores {
  TokenStore tokens{*stores.database};

  TokenRow add(const std::string& name, char digit, const Scopes& scopes = {Scope::read}) {
    const auto row = tokens.add(name, std::string(64, digit), scopes, 10, {.user = 1000});
    REQUIRE(row);
    return *row;
  }
};

}  // namespace

TEST_CASE_METHOD(Tokens, "a token is listed with what it allows, the newest first") {
  add("grafana", '1');
  const auto row = add("ci", '2', {Scope::read, Scope::measure});
  CHECK(row.scopes == Scopes{Scope::read, Scope::measure});
  CHECK(row.made_at == 10);
  CHECK(row.made_by == "uid 1000");
  CHECK_FALSE(row.used_at);
  const auto listed = tokens.list().value();
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].name == "ci");
  CHECK(listed[0].sha256 == std::string(64, '2'));
  CHECK(listed[1].name == "grafana");
}

TEST_CASE_METHOD(Tokens, "a token that was revoked stays listed, and its name is free again") {
  const auto row = add("ci", '1');
  CHECK(tokens.add("ci", std::string(64, '2'), {Scope::read}, 11, {}).error().code ==
        ErrorCode::conflict);
  const auto revoked = tokens.revoke(row.id, 12, {.token = "admin"}).value();
  CHECK(revoked.revoked_at == 12);
  CHECK(revoked.revoked_by == "token admin");
  CHECK(tokens.revoke(row.id, 13, {}).error().code == ErrorCode::conflict);
  CHECK(tokens.revoke(99, 13, {}).error().code == ErrorCode::not_found);
  add("ci", '2');
  CHECK(tokens.list().value().size() == 2);
}

TEST_CASE_METHOD(Tokens, "a token says when it was used last") {
  const auto row = add("ci", '1');
  REQUIRE(tokens.note_use(row.id, 20));
  CHECK(tokens.get(row.id).value().used_at == 20);
}

TEST_CASE_METHOD(Tokens, "a token that is revoked ends its sign-ins, and no others") {
  const auto row = add("ci", '1');
  add("ada", '2');
  SignInStore sign_ins(*stores.database);
  for (const char digit : {'1', '2'}) {
    REQUIRE(sign_ins.add({.sha256 = std::string(63, 'a') + digit,
                          .token_sha256 = std::string(64, digit),
                          .made_at = 10,
                          .ends_at = 100}));
  }
  REQUIRE(tokens.revoke(row.id, 20, {}));
  const auto left = sign_ins.list(20).value();
  REQUIRE(left.size() == 1);
  CHECK(left[0].token_sha256 == std::string(64, '2'));
}

TEST_CASE_METHOD(Tokens, "a sign-in lasts twelve hours at most, and ended ones are forgotten") {
  SignInStore sign_ins(*stores.database);
  const SignInRow row{.sha256 = std::string(64, 'a'),
                      .token_sha256 = std::string(64, '1'),
                      .made_at = 10,
                      .ends_at = 20};
  REQUIRE(sign_ins.add(row));
  CHECK(sign_ins.list(19).value().size() == 1);
  CHECK(sign_ins.list(20).value().empty());
  auto longer = row;
  longer.sha256 = std::string(64, 'b');
  longer.ends_at = 10 + 12 * 3'600'000 + 1;
  CHECK_FALSE(sign_ins.add(longer));
  longer.made_at = 25;
  REQUIRE(sign_ins.add(longer));
  CHECK(sign_ins.list(0).value().size() == 1);
  REQUIRE(sign_ins.end(longer.sha256));
  CHECK(sign_ins.list(0).value().empty());
}

TEST_CASE_METHOD(Tokens, "of one token a hundred browsers are signed in at most, the newest") {
  SignInStore sign_ins(*stores.database);
  for (int i = 0; i < 101; ++i) {
    const auto digits = std::to_string(100 + i);
    REQUIRE(sign_ins.add({.sha256 = std::string(61, 'a') + digits,
                          .token_sha256 = std::string(64, '1'),
                          .made_at = i,
                          .ends_at = 1'000}));
  }
  const auto rows = sign_ins.list(0).value();
  CHECK(rows.size() == 100);
  CHECK(rows.front().made_at == 100);
  CHECK(rows.back().made_at == 1);
}
