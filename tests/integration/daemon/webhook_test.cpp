// GitHub calls a running daemon, which takes the delivery and works it off in a thread of its own.
#include "fake_github.hpp"
#include "running_service.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/tracker/received_store.hpp"
#include "torchwatch/webhooks/signature.hpp"

using namespace torchwatch;

namespace {

constexpr const char* kSecret = "a secret of the webhook";

/// A daemon whose issues are in a repository of its own.
struct WatchedRepository : test::RunningService {
  WatchedRepository()
      : github("owner/name", "ghs_a-token-for-tests",
               test::ApiDescription::read(std::filesystem::path(TORCHWATCH_SOURCE_DIR) /
                                          "tests/integration/github/github_description.json")) {
    config.github.repository = "owner/name";
    config.github.api = github.url();
    config.github.token_file = secret("github-token", "ghs_a-token-for-tests");
    config.github.webhook_secret_file = secret("webhook-secret", kSecret);
    start();
  }
  ~WatchedRepository() { stop(); }

  std::filesystem::path secret(const std::string& name, const std::string& text) {
    auto file = folder.write(name, text + "\n");
    std::filesystem::permissions(
        file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return file;
  }

  platform::HttpResponse deliver(const nlohmann::json& payload, const std::string& signed_with) {
    platform::HttpRequest request;
    request.method = "POST";
    request.url = "http://127.0.0.1:" + std::to_string(daemon->port()) + "/api/v1/webhooks/github";
    request.body = payload.dump();
    request.headers = {{"Content-Type", "application/json"},
                       {"X-GitHub-Event", "issue_comment"},
                       {"X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"},
                       {"X-Hub-Signature-256", webhooks::signature_of(signed_with, request.body)}};
    return client->send(request).value();
  }

  test::FakeGithub github;
};

const nlohmann::json kComment{{"action", "created"},
                              {"issue", {{"number", 7}}},
                              {"comment",
                               {{"id", 99},
                                {"body", "/bisect help"},
                                {"user", {{"login", "ada"}, {"id", 5}, {"type", "User"}}}}},
                              {"repository", {{"full_name", "owner/name"}}}};

}  // namespace

TEST_CASE(
    "a delivery is answered while GitHub answers nothing: it is stored, and worked off later") {
  WatchedRepository service;
  test::Fault silence;
  silence.method = "GET";
  silence.kind = test::Fault::Kind::hang;
  for (int i = 0; i < 5; ++i) service.github.fail_next(silence);
  auto comment = kComment;
  comment["comment"]["body"] = "/ack known";  // may she? GitHub is asked, and does not say
  CHECK(service.deliver(comment, kSecret).status == 202);
  const auto kept =
      storage::ReceivedStore(service.application->services().database).pending().value();
  REQUIRE(kept.size() == 1);
  CHECK(kept.front().delivery == "webhook:72d3162e-cc78-11e3-81ab-4c9367dc0958");
  CHECK(service.get("/api/v1/outbox").at("messages").empty());
}

TEST_CASE("a signed delivery is taken without a token and answered by a reply in the outbox") {
  WatchedRepository service;
  CHECK(service.deliver(kComment, "another secret").status == 401);
  CHECK(service.deliver(kComment, kSecret).status == 202);
  const auto outbox = service.wait_until("/api/v1/outbox", [](const nlohmann::json& answer) {
    return !answer.at("messages").empty();
  });
  CHECK(outbox.at("messages").at(0).at("kind") == "reply");
  CHECK(service.deliver(kComment, kSecret).status == 200);
  service.stop();
  // What GitHub sends in confidence is in no log.
  CHECK(service.out.str().find(kSecret) == std::string::npos);
  CHECK(service.out.str().find("ghs_a-token-for-tests") == std::string::npos);
}
