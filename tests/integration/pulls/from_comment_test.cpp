// A pull request that somebody wants compared, in one run: the comment on it, GitHub's call, the
// request, the build of its head in the sandbox, the comparison, and what GitHub has in the end.
#include <algorithm>
#include <catch2/catch.hpp>

#include "fake_github_conversation.hpp"
#include "pulls_fixture.hpp"
#include "torchwatch/conversation/inbox.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/requests/check.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/webhooks/routes.hpp"
#include "torchwatch/webhooks/signature.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

constexpr const char* kSecret = "a secret of the webhook";
constexpr std::int64_t kPull = 17;
constexpr const char* kBefore = "2026-08-16T01:00:00Z";
constexpr const char* kSlower = "time dlrm cpu-train 1.5";

/// One GitHub of two parts: where people talk, and where pull requests, statuses and check runs
/// are.
class WholeGithub final : public platform::HttpClient {
 public:
  WholeGithub(test::ConversationGithub& talk, test::FakeGithubPulls& pulls,
              platform::HttpClient& http)
      : talk_(talk), pulls_(pulls), http_(http) {}

  Result<platform::HttpResponse> send(const platform::HttpRequest& request) override {
    const auto is_about = [&](const char* part) {
      return request.url.find(part) != std::string::npos;
    };
    if (!is_about("/pulls/") && !is_about("/activity") && !is_about("/statuses/") &&
        !is_about("/check-runs")) {
      return talk_.send(request);
    }
    auto to_pulls = request;
    to_pulls.url = pulls_.url() + request.url.substr(request.url.find("/repos/"));
    return http_.send(to_pulls);
  }

 private:
  test::ConversationGithub& talk_;
  test::FakeGithubPulls& pulls_;
  platform::HttpClient& http_;
};

/// A pull request on which people talk, and a service that hears of it.
struct SpokenPull : PullsFixture {
  SpokenPull() {
    const_cast<config::Config&>(service->services().config).github.app_id = 12345;
    talk.people.add("ada", 1, "write");
    talk.people.add("cem", 3, "read");
    for (std::int64_t number = 1; number <= kPull; ++number) {
      REQUIRE(talk.people.open_pull("cem") == number);
    }
    github.permit("ada", "write");
    routes = webhooks::routes({.database = database(),
                               .clock = service->services().clock,
                               .repository = kRepository,
                               .secret = kSecret});
  }

  github::GithubSettings settings() const {
    github::GithubSettings with;
    with.repository = kRepository;
    with.token = kToken;
    with.write_interval = std::chrono::milliseconds(0);
    return with;
  }

  int hook(const test::Delivery& delivery, const std::string& id) {
    http::Request request;
    request.method = "POST";
    request.body = delivery.payload.dump();
    request.webhook = {.event = delivery.event,
                       .delivery = id,
                       .signature = webhooks::signature_of(kSecret, request.body)};
    return routes.front().handler(request).value().status;
  }

  /// What the daemon's threads do in turn: hear, carry out what is asked for, tell.
  void work() {
    const auto heard = inbox.work({});
    if (!heard) FAIL(heard.error().text());
    CHECK(heard->empty());
    deliver();
    storage::RequestStore requests(database());
    const auto all = requests.list(10).value();
    for (const auto& request : all) {
      if (storage::is_end(request.state)) continue;
      REQUIRE(requests.claim(request.id));
      CHECK(carry_out(request.id).empty());
    }
    deliver();
  }

  void deliver() {
    storage::OutboxStore outbox(database());
    github::OutboxSender sender(outbox, client, service->services().clock, settings());
    const auto sent = sender.deliver_due({});
    if (!sent) FAIL(sent.error().text());
    CHECK(sent->problem.empty());
  }

  /// What torchwatch says on the pull request.
  std::vector<std::string> said() const {
    std::vector<std::string> all;
    for (const auto& each : talk.issue(kPull).comments) {
      if (each.login == "torchwatch-machine") all.push_back(each.body);
    }
    return all;
  }

  test::ConversationGithub talk{kRepository, kToken, "torchwatch-machine",
                                service->services().clock};
  WholeGithub client{talk, github, *http};
  std::vector<http::Route> routes;
  conversation::Inbox inbox{
      {.services = service->services(),
       .http = client,
       .github = settings(),
       .settings = {},
       .token = [] { return Result<std::string>(kToken); },
       .check_request = [this](storage::RequestKind kind, const nlohmann::json& body) -> Status {
         TW_TRY_VOID(pulls::check(service->services().config, has_sandbox, body));
         return requests::check({.config = service->services().config, .workloads = {"dlrm"}}, kind,
                                body, requests::Asking::from_elsewhere);
       }}};
};

}  // namespace

TEST_CASE("a comment brings a build in the sandbox, a comparison, a check run and one comment") {
  SpokenPull pull;
  if (!pull.has_sandbox) return;
  const auto head = pull.push(kSlower, kBefore);
  const auto delivery = pull.talk.people.comment("ada", kPull, "Is it slower?\n\n/compare dlrm");
  CHECK(pull.hook(delivery, "first") == 202);
  CHECK(storage::RequestStore(pull.database()).list(10).value().empty());  // only stored so far
  pull.work();
  pull.work();

  const auto requests = storage::RequestStore(pull.database()).list(10).value();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].state == storage::RequestState::done);
  CHECK(to_string(requests[0].asked_by) == "github ada");
  const auto comparisons = storage::ComparisonStore(pull.database()).list(10).value();
  REQUIRE(comparisons.size() == 1);
  CHECK(comparisons[0].purpose == storage::Purpose::pull_request);
  const auto build = storage::BuildStore(pull.database()).get(comparisons[0].candidate).value();
  CHECK(build.origin == storage::BuildOrigin::pull);
  CHECK_THAT(build.folder, Contains("/pulls/commits/"));
  CHECK_THAT(requests[0].result_json, Contains(head));

  const auto checks = pull.github.checks();
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].body.at("head_sha") == head);
  CHECK(checks[0].body.at("status") == "completed");
  CHECK(checks[0].body.at("conclusion") == "neutral");
  REQUIRE(pull.said().size() == 1);
  CHECK_THAT(pull.said()[0], Contains("1 series regressed") && Contains("dlrm cpu-train time"));
  CHECK(pull.talk.issue(kPull).comments.front().reactions == std::vector<std::string>{"eyes"});
  CHECK(pull.messages().empty());

  // GitHub calls again, as people do who press a button there: nothing is done twice.
  CHECK(pull.hook(delivery, "first") == 200);
  CHECK(pull.hook(delivery, "second") < 300);
  pull.work();
  CHECK(storage::RequestStore(pull.database()).list(10).value().size() == 1);
  CHECK(pull.said().size() == 1);
  CHECK(pull.github.checks().size() == 1);
}

TEST_CASE("a comment of somebody who may not write builds nothing and leaves no check run") {
  SpokenPull pull;
  if (!pull.has_sandbox) return;
  pull.push(kSlower, kBefore);
  CHECK(pull.hook(pull.talk.people.comment("cem", kPull, "/compare dlrm"), "first") == 202);
  pull.work();
  CHECK(storage::RequestStore(pull.database()).list(10).value().empty());
  CHECK(storage::ComparisonStore(pull.database()).list(10).value().empty());
  CHECK(pull.github.checks().empty());
  REQUIRE(pull.said().size() == 1);
  CHECK_THAT(pull.said()[0], Catch::StartsWith("Thank you."));
}
