// Webhooks and mails on their way: what arrives, and what a receiver that fails does to others.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "file_content.hpp"
#include "notify_fixture.hpp"
#include "torchwatch/digest/hmac.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;
using Catch::Contains;
using nlohmann::json;

namespace {

/// Keeps each mail with the arguments before it.
std::string keeping_script(const test::TemporaryFolder& folder) {
  const auto path = (folder.path() / "mail.txt").string();
  return "printf '%s|' \"$@\" >> " + path + "\necho >> " + path + "\ncat >> " + path + "\n";
}

}  // namespace

TEST_CASE("a signature is GitHub's own for its published example") {
  CHECK(digest::hmac_sha256_hex("It's a Secret to Everybody", "Hello, World!") ==
        "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17");
}

TEST_CASE("a webhook gets each event once, signed over the bytes that it gets") {
  FakeReceiver receiver;
  NotifyFixture fixture;
  fixture.add_webhook("chat", receiver.url() + "/hook?a=b", {"opened", "closed"});
  fixture.start();
  const auto row = fixture.nightly("2026-08-17", kCommit);
  const auto incident = fixture.incident_of(row.id, "[perf] +15.2 % time");
  fixture.report(row, true);
  for (int i = 0; i < 3; ++i) {
    fixture.queue();
    CHECK(fixture.deliver().empty());
  }
  auto deliveries = receiver.deliveries();
  REQUIRE(deliveries.size() == 1);
  CHECK(deliveries[0].path == "/hook");
  CHECK(deliveries[0].event == "opened");
  CHECK(deliveries[0].id == "webhook-chat-opened-" + std::to_string(incident.id));
  CHECK(deliveries[0].signature ==
        "sha256=" + digest::hmac_sha256_hex(kWebhookSecret, deliveries[0].body));
  const auto body = json::parse(deliveries[0].body);
  CHECK(body.at("event") == "opened");
  CHECK(body.at("incident").at("title") == "[perf] +15.2 % time");
  CHECK(body.at("url") == "https://perf.example/incidents/" + std::to_string(incident.id));

  REQUIRE(IncidentStore(*fixture.database)
              .close(incident.id, {.by = "ada", .reason = "", .at = fixture.clock.wall_now()}));
  fixture.queue();
  fixture.deliver();
  deliveries = receiver.deliveries();
  REQUIRE(deliveries.size() == 2);
  CHECK(deliveries[1].event == "closed");
  CHECK(fixture.logged.str().find(kWebhookSecret) == std::string::npos);
  CHECK(test::content_of(fixture.config.storage.path).find(kWebhookSecret) == std::string::npos);
}

TEST_CASE("a receiver that fails delays its own messages alone, and gets them in their order") {
  FakeReceiver broken;
  FakeReceiver well;
  NotifyFixture fixture;
  fixture.add_webhook("broken", broken.url());
  fixture.add_webhook("well", well.url());
  fixture.start();
  broken.answer_with(503);
  const auto row = fixture.nightly("2026-08-17", kCommit);
  fixture.incident_of(row.id, "slower");
  fixture.report(row, true);
  fixture.queue();
  CHECK_THAT(fixture.deliver(), Contains("webhook broken answered 503"));
  CHECK(well.deliveries().size() == 2);
  CHECK(broken.deliveries().size() == 1);
  fixture.deliver();
  CHECK(broken.deliveries().size() == 1);  // it waits for a minute

  fixture.clock.advance(std::chrono::minutes(2));
  fixture.deliver();
  CHECK(broken.deliveries().size() == 2);
  fixture.clock.advance(std::chrono::minutes(90));
  broken.answer_with(200);
  CHECK(fixture.deliver().empty());
  const auto deliveries = broken.deliveries();
  REQUIRE(deliveries.size() == 4);
  CHECK(deliveries[0].id == deliveries[2].id);
  CHECK(deliveries[2].event == "nightly");
  CHECK(deliveries[3].event == "opened");
  CHECK(fixture.unsent().empty());
}

TEST_CASE("what a receiver refuses for its own sake is given up") {
  FakeReceiver receiver;
  NotifyFixture fixture;
  fixture.add_webhook("chat", receiver.url());
  fixture.start();
  receiver.answer_with(422);
  fixture.report(fixture.nightly("2026-08-17", kCommit), false);
  fixture.queue();
  for (int i = 0; i < 5; ++i) {
    fixture.deliver();
    fixture.clock.advance(std::chrono::hours(1));
  }
  CHECK(receiver.deliveries().size() == 3);
  const auto unsent = fixture.unsent();
  REQUIRE(unsent.size() == 1);
  CHECK(unsent[0].state == OutboxState::dead);
  CHECK(unsent[0].last_error == "webhook chat answered 422");
}

TEST_CASE("a redirect is not followed, and its message waits until the address is mended") {
  FakeReceiver receiver;
  FakeReceiver elsewhere;
  NotifyFixture fixture;
  fixture.add_webhook("chat", receiver.url());
  fixture.start();
  receiver.answer_with(307, elsewhere.url());
  fixture.report(fixture.nightly("2026-08-17", kCommit), false);
  fixture.queue();
  for (int i = 0; i < 5; ++i) {
    CHECK_THAT(fixture.deliver(), Contains("webhook chat answered 307"));
    fixture.clock.advance(std::chrono::hours(1));
  }
  CHECK(elsewhere.deliveries().empty());
  receiver.answer_with(204);
  CHECK(fixture.deliver().empty());
  CHECK(fixture.unsent().empty());
}

TEST_CASE("a webhook without its secret, or without its receiver, gets nothing and says why") {
  NotifyFixture fixture;
  fixture.add_webhook("chat", "http://127.0.0.1:1/secret-in-the-path");
  fixture.start();
  fixture.report(fixture.nightly("2026-08-17", kCommit), false);
  fixture.queue();
  const auto why = fixture.deliver();
  CHECK_THAT(why, Contains("webhook chat cannot be reached"));
  CHECK_THAT(why, !Contains("secret-in-the-path"));
  std::filesystem::permissions(fixture.config.notify.webhooks[0].secret_file,
                               std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  fixture.clock.advance(std::chrono::hours(1));
  CHECK_THAT(fixture.deliver(), Contains("others may read it"));
}

TEST_CASE("a mail has one recipient list and one subject, whatever an incident is called") {
  NotifyFixture fixture;
  fixture.add_mail("list", keeping_script(fixture.folder), {"opened"});
  fixture.start();
  const auto row = fixture.nightly("2026-08-17", kCommit);
  fixture.incident_of(row.id, "slower\r\nBcc: victim@example.net\r\n\r\nOwned \xE2\x80\xA6 =?x?=");
  fixture.report(row, true);
  fixture.queue();
  CHECK(fixture.deliver().empty());
  const auto mail = test::content_of(fixture.folder.path() / "mail.txt");
  CHECK_THAT(mail, Contains("-i|-f|tw@example.org|--|perf@example.org|ops@example.org|\n"));
  const auto head = mail.substr(0, mail.find("\r\n\r\n"));
  CHECK_THAT(head, Contains("To: perf@example.org,\r\n ops@example.org\r\n"));
  CHECK_THAT(head, Contains("\r\nSubject: =?UTF-8?Q?"));
  CHECK_THAT(head, Contains("\r\nMessage-ID: <"));
  CHECK_THAT(head, !Contains("\nBcc:"));
  const auto body = mail.substr(mail.find("\r\n\r\n"));
  CHECK_THAT(body, Contains("https://perf.example/incidents/"));
  CHECK_THAT(body, Contains("resnet18 cpu-train time"));
  for (std::size_t at = 0, end = 0; at < mail.size(); at = end + 1) {
    end = std::min(mail.find('\n', at), mail.size());
    CHECK(end - at <= 80);
  }
}

TEST_CASE("a sendmail that fails is tried again, and what it says is shown") {
  NotifyFixture fixture;
  fixture.add_mail("list", "echo 'queue is full' >&2; exit 75\n");
  fixture.start();
  fixture.report(fixture.nightly("2026-08-17", kCommit), false);
  fixture.queue();
  CHECK_THAT(fixture.deliver(), Contains("exit status 75: queue is full"));
  fixture.add_mail("list", keeping_script(fixture.folder));
  fixture.clock.advance(std::chrono::hours(1));
  CHECK(fixture.deliver().empty());
  CHECK_THAT(test::content_of(fixture.folder.path() / "mail.txt"), Contains("Auto-Submitted"));
}
