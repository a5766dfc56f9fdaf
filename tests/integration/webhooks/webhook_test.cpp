// GitHub's deliveries over HTTP: what is refused, what is dropped, what is kept, each once.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "fake_clock.hpp"
#include "raw_client.hpp"
#include "skipped.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/http/server.hpp"
#include "torchwatch/platform/http_client.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/tracker/received_store.hpp"
#include "torchwatch/webhooks/routes.hpp"
#include "torchwatch/webhooks/signature.hpp"

using namespace torchwatch;
using nlohmann::json;

namespace {

constexpr const char* kSecret = "It's a Secret to Everybody";
constexpr const char* kRepository = "Octo-Org/Hello-World";
constexpr std::int64_t kInstallation = 957387;

storage::Id incident_with_issue(storage::Database& database, std::int64_t issue) {
  storage::BuildStore builds(database);
  const auto build = builds.discover(storage::BuildOrigin::nightly, "2026-08-17").value();
  const auto comparison = storage::ComparisonStore(database)
                              .open({storage::Purpose::nightly, build.id, std::nullopt}, 1)
                              .value();
  storage::IncidentRow row;
  row.comparison = comparison.id;
  row.key = "time-cpu:abc";
  row.title = "slower";
  row.issue_number = issue;
  return storage::IncidentStore(database).open(row).value().id;
}

struct Hook {
  explicit Hook(std::string secret = kSecret, std::string repository = kRepository,
                std::int64_t installation = 0) {
    server = http::Server::start({},
                                 webhooks::routes({.database = *database,
                                                   .clock = clock,
                                                   .repository = std::move(repository),
                                                   .installation = installation,
                                                   .secret = std::move(secret),
                                                   .arrived = [this] { ++arrived; },
                                                   .foreign = foreign}),
                                 clock)
                 .value();
  }

  struct Sent {
    std::string event = "issues";
    std::string delivery = "72d3162e-cc78-11e3-81ab-4c9367dc0958";
    std::string type = "application/json";
    std::string signature{};  ///< empty: the right one
  };

  platform::HttpResponse post(const std::string& body, const Sent& sent) {
    platform::HttpRequest request;
    request.method = "POST";
    request.url = "http://127.0.0.1:" + std::to_string(server->port()) + "/api/v1/webhooks/github";
    request.body = body;
    const auto signature =
        sent.signature.empty() ? webhooks::signature_of(kSecret, body) : sent.signature;
    request.headers = {{"Content-Type", sent.type}, {"X-Hub-Signature-256", signature}};
    if (!sent.event.empty()) request.headers["X-GitHub-Event"] = sent.event;
    if (!sent.delivery.empty()) request.headers["X-GitHub-Delivery"] = sent.delivery;
    return client->send(request).value();
  }

  std::string state_of(const platform::HttpResponse& response) {
    return json::parse(response.body).value("state", "");
  }

  std::vector<storage::ReceivedRow> kept() {
    return storage::ReceivedStore(*database).pending().value();
  }

  test::TemporaryFolder folder;
  test::FakeClock clock;
  std::unique_ptr<storage::Database> database =
      storage::Database::open({folder.path() / "torchwatch.sqlite", "", false}).value();
  std::unique_ptr<platform::HttpClient> client = platform::make_http_client("GitHub-Hookshot/test");
  std::atomic<int> arrived = 0;
  std::shared_ptr<std::atomic<int>> foreign = std::make_shared<std::atomic<int>>(0);
  std::unique_ptr<http::Server> server;
};

json closing(std::int64_t issue) {
  return {{"action", "closed"},
          {"issue", {{"number", issue}, {"closed_at", "2026-08-17T03:00:00Z"}}},
          {"repository", {{"full_name", kRepository}}},
          {"sender", {{"login", "ada"}, {"type", "User"}}}};
}

json comment(const std::string& text, const std::string& type = "User") {
  return {{"action", "created"},
          {"issue", {{"number", 7}}},
          {"comment",
           {{"id", 99}, {"body", text}, {"user", {{"login", "ada"}, {"id", 5}, {"type", type}}}}},
          {"repository", {{"full_name", kRepository}}}};
}

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Sends every payload of a folder, each as the event that its name begins with.
int send_all(const std::filesystem::path& folder) {
  int sent = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    const auto body = read(entry.path());
    const auto payload = json::parse(body);
    Hook hook(kSecret, payload.at("repository").at("full_name").get<std::string>());
    const auto event = name.substr(0, name.find('.'));
    const auto answer = hook.post(body, {.event = event});
    INFO(name << ": " << answer.body);
    CHECK(answer.status == 200);
    CHECK(hook.state_of(answer) == (event == "ping" ? "pong" : "ignored"));
    CHECK(hook.kept().empty());
    // The same comment with a command in its text is kept.
    if (name.starts_with("issue_comment.created")) {
      auto with_command = payload;
      with_command["comment"]["body"] = "/ack known";
      const auto kept = hook.post(with_command.dump(), {.event = event});
      CHECK(kept.status == 202);
      REQUIRE(hook.kept().size() == 1);
      CHECK(hook.kept()[0].issue == payload.at("issue").at("number").get<std::int64_t>());
      CHECK(json::parse(hook.kept()[0].body_json).at("login") ==
            payload.at("comment").at("user").at("login"));
    }
    CHECK(
        hook.post(body + " ", {.event = event, .signature = webhooks::signature_of(kSecret, body)})
            .status == 401);
    ++sent;
  }
  return sent;
}

}  // namespace

TEST_CASE("a signature is the one that GitHub's documentation gives") {
  CHECK(webhooks::signature_of(kSecret, "Hello, World!") ==
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17");
  CHECK_FALSE(webhooks::is_signed("", "x", webhooks::signature_of("", "x")));
}

TEST_CASE("a signature that is wrong by any one bit is refused, and nothing is kept") {
  Hook hook;
  incident_with_issue(*hook.database, 7);
  const auto body = closing(7).dump();
  const auto right = webhooks::signature_of(kSecret, body);
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (const int bit : {1, 2, 4, 8, 16, 32, 64, 128}) {
      auto wrong = right;
      wrong[i] = static_cast<char>(wrong[i] ^ bit);
      CHECK_FALSE(webhooks::is_signed(kSecret, body, wrong));
    }
  }
  for (const auto& wrong : {std::string("sha256="), right.substr(0, right.size() - 1), right + "0",
                            right.substr(7), std::string("sha1=") + right.substr(7)}) {
    CHECK(hook.post(body, {.signature = wrong}).status == 401);
  }
  auto changed = body;
  changed[changed.find("closed")] ^= 1;
  CHECK(hook.post(changed, {.signature = right}).status == 401);
  CHECK(hook.kept().empty());
  CHECK(hook.post(body, {.signature = right}).status == 202);
}

TEST_CASE("a delivery counts once: its replay is answered and changes nothing") {
  Hook hook;
  incident_with_issue(*hook.database, 7);
  const auto body = closing(7).dump();
  const auto first = hook.post(body, {});
  CHECK(first.status == 202);
  CHECK(hook.state_of(first) == "pending");
  for (int i = 0; i < 3; ++i) {
    const auto again = hook.post(body, {});
    CHECK(again.status == 200);
    CHECK(hook.state_of(again) == "known");
  }
  CHECK(hook.kept().size() == 1);
  CHECK(hook.arrived == 1);
  // Also after it was worked off.
  storage::ReceivedStore store(*hook.database);
  REQUIRE(store.end(hook.kept()[0].id, storage::ReceivedState::done, "done"));
  CHECK(hook.state_of(hook.post(body, {})) == "known");
  CHECK(hook.post(body, {.delivery = "another"}).status == 202);
}

TEST_CASE("a call that cannot be a delivery of ours is refused with the reason") {
  Hook hook;
  const auto body = closing(7).dump();
  CHECK(hook.post(body, {.event = ""}).status == 400);
  CHECK(hook.post(body, {.delivery = ""}).status == 400);
  CHECK(hook.post(body, {.delivery = "a b"}).status == 400);
  CHECK(hook.post(body, {.type = "application/x-www-form-urlencoded"}).status == 415);
  CHECK(hook.post("[]", {}).status == 400);
  CHECK(hook.post("{", {}).status == 400);
  CHECK(hook.post(R"({"x":)" + std::string(100, '[') + std::string(100, ']') + "}", {}).status ==
        400);
  RawClient raw(hook.server->port());
  raw.send(
      "POST /api/v1/webhooks/github HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\nX-GitHub-Event: issues\r\n"
      "Content-Length: 10485760\r\n\r\n");
  CHECK_THAT(raw.rest(), Catch::StartsWith("HTTP/1.1 413"));
  CHECK(hook.post(R"({"action": "closed", "issue": {}})", {}).status == 400);
  auto other = closing(7);
  other["repository"]["full_name"] = "somebody/else";
  CHECK(hook.post(other.dump(), {}).status == 403);
  CHECK(hook.kept().empty());
  CHECK(hook.arrived == 0);
}

TEST_CASE("a delivery of another installation of the App is refused and counted") {
  Hook hook(kSecret, kRepository, kInstallation);
  incident_with_issue(*hook.database, 7);
  auto payload = closing(7);
  payload["installation"] = {{"id", kInstallation + 1}};
  const auto answer = hook.post(payload.dump(), {.delivery = "a"});
  CHECK(answer.status == 403);
  CHECK_THAT(answer.body, Catch::Contains("[github] installation"));
  payload["repository"]["full_name"] = "somebody/else";
  CHECK(hook.post(payload.dump(), {.delivery = "b"}).status == 403);
  CHECK(*hook.foreign == 2);
  CHECK(hook.kept().empty());
  payload = closing(7);
  payload["installation"] = {{"id", kInstallation}};
  CHECK(hook.post(payload.dump(), {.delivery = "c"}).status == 202);
  CHECK(*hook.foreign == 2);
}

TEST_CASE("without a secret no webhook is taken, also an unsigned one") {
  Hook hook("");
  const auto body = closing(7).dump();
  for (const auto& signature : {webhooks::signature_of("", body), std::string("sha256=")}) {
    const auto answer = hook.post(body, {.signature = signature});
    CHECK(answer.status == 404);
    CHECK_THAT(answer.body, Catch::Contains("webhook_secret_file"));
  }
}

TEST_CASE("changes of issues that are not ours, and comments without a command, are dropped") {
  Hook hook;
  incident_with_issue(*hook.database, 7);
  CHECK(hook.state_of(hook.post(closing(8).dump(), {.delivery = "a"})) == "ignored");
  auto assigned = closing(7);
  assigned["action"] = "assigned";
  CHECK(hook.state_of(hook.post(assigned.dump(), {.delivery = "b"})) == "ignored");
  const auto dropped = [&](const json& payload, const std::string& delivery) {
    return hook.state_of(hook.post(payload.dump(),
                                   {.event = "issue_comment", .delivery = delivery})) == "ignored";
  };
  CHECK(dropped(comment("I saw it, too."), "c"));
  CHECK(dropped(comment("> /ack"), "d"));
  CHECK(dropped(comment("/ack known", "Bot"), "e"));
  auto by_app = comment("/ack known");
  by_app["comment"]["performed_via_github_app"] = {{"slug", "helper"}};
  CHECK(dropped(by_app, "h"));
  auto edited = comment("/ack known");
  edited["action"] = "edited";
  CHECK(dropped(edited, "f"));
  CHECK(hook.kept().empty());
  CHECK_FALSE(dropped(comment("Thanks.\r\n/ack known"), "g"));
  REQUIRE(hook.kept().size() == 1);
  CHECK(json::parse(hook.kept()[0].body_json).at("text") == "Thanks.\r\n/ack known");
}

TEST_CASE("the project's own deliveries are answered as GitHub expects") {
  const std::filesystem::path source = TORCHWATCH_SOURCE_DIR;
  CHECK(send_all(source / "tests/integration/webhooks/payloads") >= 3);
}

TEST_CASE("every delivery of GitHub's examples is answered as GitHub expects") {
  const std::filesystem::path source = TORCHWATCH_SOURCE_DIR;
  const auto folder = source.parent_path() / "shared/reference/github/webhooks";
  if (!std::filesystem::exists(folder)) {
    test::say_skipped("reference data not at hand (examples of GitHub's deliveries)");
    return;
  }
  CHECK(send_all(folder) >= 10);
}
