#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "fake_clock.hpp"
#include "torchwatch/registration/manifest.hpp"
#include "torchwatch/registration/waiting.hpp"

using namespace torchwatch;
using namespace torchwatch::registration;
using Query = std::multimap<std::string, std::string>;

namespace {

struct Asked {
  test::FakeClock clock;
  AwaitedAnswer answer{clock, "the-state", clock.wall_now(), std::chrono::minutes(10)};
  ErrorCode refused(const Query& query) { return answer.take(query).error().code; }
};

}  // namespace

TEST_CASE("an answer counts once, with the state that was sent") {
  Asked asked;
  CHECK(asked.refused({{"code", "abc"}}) == ErrorCode::invalid);
  CHECK(asked.refused({{"code", "abc"}, {"state", ""}}) == ErrorCode::invalid);
  CHECK(asked.refused({{"code", "abc"}, {"state", "the-state2"}}) == ErrorCode::invalid);
  CHECK(asked.refused({{"code", "abc"}, {"state", "the-state"}, {"state", "the-state"}}) ==
        ErrorCode::invalid);
  CHECK(asked.answer.take({{"code", "abc"}, {"state", "the-state"}}).value() == "abc");
  CHECK(asked.refused({{"code", "abc"}, {"state", "the-state"}}) == ErrorCode::conflict);
}

TEST_CASE("a code is letters, digits and hyphens: it becomes part of an address") {
  Asked asked;
  for (const std::string code : {"", "../user", "a/b", "a?b", "a b", "a%2fb", "\xc3\xa4"}) {
    CHECK(asked.refused({{"code", code}, {"state", "the-state"}}) == ErrorCode::invalid);
  }
  CHECK(asked.refused({{"code", std::string(201, 'a')}, {"state", "the-state"}}) ==
        ErrorCode::invalid);
  CHECK(asked.answer.take({{"code", "aZ9_-"}, {"state", "the-state"}}));
}

TEST_CASE("an answer that comes after the time limit, or before the question, does not count") {
  Asked asked;
  const Query right{{"code", "abc"}, {"state", "the-state"}};
  asked.clock.step_wall(-std::chrono::seconds(1));
  CHECK(asked.refused(right) == ErrorCode::timed_out);
  asked.clock.advance(std::chrono::seconds(602));
  CHECK(asked.refused(right) == ErrorCode::timed_out);
  asked.clock.step_wall(-std::chrono::seconds(1));
  CHECK(asked.answer.take(right));
}

TEST_CASE("the address of an answer is read as a person copies it") {
  const auto query = query_of("http://127.0.0.1:1/created?code=abc&state=def#top").value();
  CHECK(query == Query{{"code", "abc"}, {"state", "def"}});
  CHECK(query_of("http://127.0.0.1:1/created").error().code == ErrorCode::invalid);
  CHECK(query_of("x?").value().empty());
}

TEST_CASE("a manifest asks for what torchwatch does, and for events only where they can go") {
  AppPlan plan;
  plan.permissions = {{"contents", "write"}};
  auto manifest = manifest_of(plan, "http://127.0.0.1:1234/created");
  CHECK(manifest["public"] == false);
  CHECK(manifest["redirect_url"] == "http://127.0.0.1:1234/created");
  CHECK(manifest["default_permissions"] == nlohmann::json{{"metadata", "read"},
                                                          {"issues", "write"},
                                                          {"pull_requests", "read"},
                                                          {"statuses", "write"},
                                                          {"checks", "write"},
                                                          {"contents", "write"}});
  CHECK_FALSE(manifest.contains("hook_attributes"));
  CHECK_FALSE(manifest.contains("default_events"));
  plan.webhook = "https://perf.example/api/v1/webhooks/github";
  manifest = manifest_of(plan, "http://127.0.0.1:1234/created");
  CHECK(manifest["hook_attributes"]["url"] == plan.webhook);
  CHECK(manifest["default_events"] == nlohmann::json::array({"issue_comment", "issues"}));
}

TEST_CASE("nothing of the form's page can be broken out of") {
  AppPlan plan;
  plan.name = "\"><script>alert(1)</script>";
  plan.home = "https://x.example/'\"<&";
  const auto page = page_of(plan, "https://github.com/", "http://127.0.0.1:1/created", "abc");
  CHECK_THAT(page, !Catch::Contains("<script"));
  CHECK_THAT(page, Catch::Contains("action=\"https://github.com/settings/apps/new?state=abc\""));
  plan.organization = "pytorch";
  CHECK_THAT(page_of(plan, "https://github.com/", "x", "abc"),
             Catch::Contains("https://github.com/organizations/pytorch/settings/apps/new"));
}
