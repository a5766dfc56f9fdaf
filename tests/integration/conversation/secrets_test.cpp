// What GitHub and its users send in confidence is nowhere where others could read it.
#include <catch2/catch.hpp>
#include <fstream>

#include "everything_served.hpp"
#include "talk.hpp"
#include "torchwatch/webhooks/signature.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

/// All files of a folder, as they lie there: the database, its -wal, logs.
std::string bytes_below(const std::filesystem::path& folder) {
  std::string bytes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    bytes += std::string{std::istreambuf_iterator<char>(file), {}};
  }
  return bytes;
}

/// A daemon over what a talk has left, with its secrets.
struct Aftermath : test::RunningService {
  explicit Aftermath(const Talk& talk) {
    const auto web = config.web;
    config = talk.day.config();
    config.web = web;
    config.executor.machine_lock = folder.path().filename().string();
    config.github.repository = kRepository;
    config.github.token_file = secret("github-token", ::kToken);
    config.github.webhook_secret_file = secret("webhook-secret", kWebhookSecret);
    start();
  }

  std::filesystem::path secret(const std::string& name, const std::string& text) {
    auto file = folder.write(name, text + "\n");
    std::filesystem::permissions(
        file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return file;
  }
};

/// Replies and reactions fail, and the server answers with what it was sent.
std::string meet_an_echo(Talk& talk) {
  const auto told = std::string("Bad: Authorization: Bearer ") + ::kToken;
  talk.github.set_fault(
      [&](const platform::HttpRequest&) -> std::optional<Result<platform::HttpResponse>> {
        return platform::HttpResponse{
            .status = 403, .headers = {}, .body = nlohmann::json{{"message", told}}.dump()};
      });
  CHECK(talk.hook(talk.github.people.comment("bea", 1, "/bisect deadbeef workload=dlrm")) == 202);
  auto seen = talk.inbox->work({}).value();
  talk.deliver();
  talk.github.set_fault({});
  return seen;
}

/// A delivery whose signature is nearly right; what is answered. Adds the right one to `secrets`.
std::string meet_a_forger(Talk& talk, std::vector<std::string>& secrets) {
  http::Request wrong;
  wrong.method = "POST";
  wrong.body = talk.github.people.comment("bea", 1, "/ack again").payload.dump();
  const auto signature = webhooks::signature_of(kWebhookSecret, wrong.body);
  secrets.push_back(signature.substr(7));
  wrong.webhook = {.event = "issue_comment", .delivery = "d", .signature = signature + "0"};
  const auto refused = talk.routes.front().handler(wrong);
  REQUIRE(refused);
  CHECK(refused->status == 401);
  return refused->body;
}

}  // namespace

TEST_CASE("no token, secret or signature is in log, error, database, page, or what is sent") {
  Talk talk(true);
  talk_until_it_is_fixed(talk);
  std::vector<std::string> secrets{::kToken, kWebhookSecret, test::kToken};
  std::string seen = meet_an_echo(talk) + meet_a_forger(talk, secrets);
  CHECK_THAT(talk.logged.str(), Contains("wrong signature"));
  for (std::int64_t issue = 1; issue <= 2; ++issue) seen += talk.github.transcript(issue);
  for (const auto& exchange : talk.github.exchanges()) seen += exchange.path + exchange.body;
  const auto state = talk.day.config().storage.path;
  const std::filesystem::path log_of_writes = state.string() + "-wal";
  CHECK(std::filesystem::file_size(log_of_writes) > 0);
  seen += bytes_below(state.parent_path());
  seen += talk.logged.str();
  talk.end();

  Aftermath after(talk);
  const auto served = everything_served(after);
  CHECK(served.failed == std::vector<std::string>{});
  CAPTURE(served.content_types);
  CHECK(served.content_types.at("text/html") > 40);
  CHECK(served.content_types.at("application/json") > 40);
  CHECK(served.content_types.at("text/markdown") > 20);
  CHECK(served.content_types.at("text/csv") > 20);
  // The pages are those of the conversation.
  CHECK_THAT(served.text, Contains("the benchmark changed that day") && Contains("disputed"));
  after.stop();
  seen += served.text + after.out.str() + bytes_below(state.parent_path());
  for (const auto& secret : secrets) {
    INFO(secret);
    CHECK(seen.find(secret) == std::string::npos);
  }
}
