// `/compare` on a pull request: from the comment to the request that the daemon carries out, and to
// the one comment that answers it.
#include <catch2/catch.hpp>

#include "talk.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/pulls/pulls.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/request_store.hpp"

using namespace torchwatch;
using Catch::Contains;
using storage::RequestState;

namespace {

constexpr std::int64_t kPull = 2;

std::vector<storage::RequestRow> asked(Talk& talk) {
  return storage::RequestStore(talk.database()).list(10).value();
}

pulls::PullSpec spec_of(const storage::RequestRow& request) {
  return pulls::parse_pull_spec(nlohmann::json::parse(request.body_json)).value();
}

/// What stands on the pull request, without markers.
std::vector<std::string> said(Talk& talk) {
  std::vector<std::string> texts;
  for (const auto& comment : talk.github.issue(kPull).comments) {
    if (comment.login != "torchwatch-account") continue;
    texts.push_back(comment.body.substr(0, comment.body.find("\n<!--")));
  }
  return texts;
}

std::vector<std::string> reactions(Talk& talk) {
  return talk.github.issue(kPull).comments.front().reactions;
}

struct PullTalk : Talk {
  PullTalk() { REQUIRE(github.people.open_pull("cem") == kPull); }
  void say(const std::string& who, const std::string& text) {
    hear(github.people.comment(who, kPull, text));
  }
};

}  // namespace

TEST_CASE("compare on a pull request becomes one request, with who asked and when") {
  PullTalk talk;
  const auto at = talk.clock.wall_now();
  talk.say("bea", "Is it slower?\n\n/compare DEADBEEF01 dlrm soft_actor_critic");
  REQUIRE(asked(talk).size() == 1);
  const auto request = asked(talk).front();
  CHECK(request.kind == storage::RequestKind::nightly);
  CHECK(request.state == RequestState::pending);
  CHECK(to_string(request.asked_by) == "github bea");
  const auto spec = spec_of(request);
  CHECK(spec.pull == kPull);
  CHECK(spec.head == "deadbeef01");
  CHECK(spec.login == "bea");
  CHECK(spec.asked_at == at);
  CHECK(spec.selection.workloads == std::vector<std::string>{"dlrm", "soft_actor_critic"});
  CHECK(reactions(talk) == std::vector<std::string>{"eyes"});
  REQUIRE(said(talk).size() == 1);
  CHECK_THAT(said(talk)[0], Contains("Request 1: place 1 of 1 in the queue"));
}

TEST_CASE(
    "compare without a commit keeps when it was written, so that a later push does not count") {
  PullTalk talk;
  const auto at = talk.clock.wall_now();
  const auto delivery = talk.github.people.comment("bea", kPull, "/compare");
  talk.pass(std::chrono::hours(2));  // the service was down meanwhile
  talk.hear(delivery);
  REQUIRE(asked(talk).size() == 1);
  CHECK(spec_of(asked(talk).front()).head.empty());
  CHECK(spec_of(asked(talk).front()).asked_at == at);
  CHECK(spec_of(asked(talk).front()).selection == comparison::Selection{});

  auto timeless = talk.github.people.comment("bea", kPull, "/compare");
  timeless.payload["comment"].erase("created_at");
  talk.hear(timeless);
  CHECK(asked(talk).size() == 1);
  CHECK_THAT(said(talk).back(), Contains("name the commit that is meant"));
}

TEST_CASE("polling finds a compare that no webhook brought, and both together count once") {
  PullTalk talk;
  CHECK(talk.work().empty());  // the first look begins now
  talk.pass(std::chrono::minutes(1));
  const auto at = talk.clock.wall_now();
  const auto delivery = talk.github.people.comment("bea", kPull, "/compare dlrm");
  talk.pass(std::chrono::minutes(10));
  CHECK(talk.work().empty());
  REQUIRE(asked(talk).size() == 1);
  CHECK(spec_of(asked(talk).front()).asked_at == at);
  for (int i = 0; i < 2; ++i) {
    talk.hear(delivery);
    talk.pass(std::chrono::minutes(10));
    CHECK(talk.work().empty());
  }
  CHECK(asked(talk).size() == 1);
  CHECK(said(talk).size() == 1);
}

TEST_CASE("the answer is one comment, which whoever carries it out edits from then on") {
  PullTalk talk;
  talk.say("bea", "/compare");
  storage::RequestStore requests(talk.database());
  REQUIRE(requests.claim(1));
  storage::OutboxStore outbox(talk.database());
  REQUIRE(
      outbox.queue(pulls::comment_on(kPull, "pull-2-request-1-begin", "It is compared.", "s1")));
  CHECK(talk.work().empty());
  REQUIRE(outbox.queue(pulls::comment_on(kPull, "pull-2-request-1-end", "Nothing changed.", "s2")));
  REQUIRE(requests.answer(1, RequestState::done, R"({"comparison": 1})"));
  CHECK(talk.work().empty());
  CHECK(talk.work().empty());
  REQUIRE(said(talk).size() == 1);
  CHECK_THAT(said(talk)[0], Contains("Nothing changed."));
  const auto command = storage::ConversationStore(talk.database()).commands_of(kPull).value();
  CHECK(command.front().state == storage::CommandState::ended);
}

TEST_CASE("compare is refused with the reason, and nothing is asked for") {
  PullTalk talk;
  talk.say("bea", "/compare resnet81");
  CHECK_THAT(said(talk).back(), Contains("there is no workload"));
  talk.say("bea", "/compare dlmr");
  CHECK_THAT(said(talk).back(), Contains("did you mean") && Contains("dlrm"));
  talk.has_sandbox = false;
  talk.say("bea", "/compare dlrm");
  CHECK_THAT(said(talk).back(), Contains("built in the sandbox only"));
  talk.has_sandbox = true;
  talk.hear(talk.github.people.comment("bea", 1, "/compare dlrm"));
  CHECK_THAT(talk.github.issue(1).comments.back().body, Contains("this is not a pull request"));
  talk.say("bea", "/compare dlrm preset=full");
  CHECK_THAT(said(talk).back(), Contains("/compare [SHA] [WORKLOAD ...]"));
  const_cast<config::Config&>(talk.services().config).github.commits = "owner/another";
  talk.say("bea", "/compare dlrm");
  CHECK_THAT(said(talk).back(), Contains("pull requests of owner/another are compared"));
  const_cast<config::Config&>(talk.services().config).github.commits = "Owner/Name";
  talk.say("bea", "/compare dlrm");
  CHECK(asked(talk).size() == 1);
}

TEST_CASE("who may not write gets no comparison, also where a list allows everything else") {
  PullTalk talk;
  talk.settings.rights.allow = {"3"};
  talk.restart();
  talk.say("cem", "/compare dlrm");
  talk.say("cem", "/compare dlrm");
  talk.say("helpful[bot]", "/compare dlrm");
  CHECK(asked(talk).empty());
  REQUIRE(said(talk).size() == 1);
  CHECK_THAT(said(talk)[0], Catch::StartsWith("Thank you."));
}

TEST_CASE("a compare counts in the budget of commands that cost measurements") {
  PullTalk talk;
  talk.settings.rights.per_user_per_day = 1;
  talk.restart();
  talk.say("bea", "/compare dlrm");
  talk.say("bea", "/compare dlrm");
  CHECK(asked(talk).size() == 1);
  CHECK_THAT(said(talk).back(), Contains("you asked for 1 measurements within 24 hours"));
  talk.say("ada", "/compare dlrm");
  CHECK(asked(talk).size() == 2);
}

TEST_CASE("cancel on a pull request ends its request and its comparison, and the comment says so") {
  PullTalk talk;
  talk.say("bea", "/compare dlrm");
  storage::ComparisonStore comparisons(talk.database());
  const auto build = comparisons.get(1).value().candidate;
  const auto opened =
      comparisons.open({storage::Purpose::pull_request, build, build}, talk.clock.wall_now())
          .value();
  const nlohmann::json noted{
      {"head", std::string(40, 'a')}, {"base", std::string(40, 'b')}, {"comparison", opened.id}};
  REQUIRE(storage::RequestStore(talk.database()).note(1, noted.dump()));
  talk.say("ada", "/cancel");
  CHECK(asked(talk).front().state == RequestState::cancelled);
  CHECK(comparisons.get(opened.id).value().state == storage::ComparisonState::cancelled);
  CHECK(talk.work().empty());
  REQUIRE(said(talk).size() == 2);
  CHECK_THAT(said(talk)[0], Contains("did not compare this pull request: it was cancelled"));
  CHECK_THAT(said(talk)[1], Contains("Cancelled what was asked for on this issue (1)."));
}
