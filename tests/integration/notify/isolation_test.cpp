// A webhook or a mail that cannot be delivered keeps no other receiver's from being sent, whatever
// its receiver answers; what is about the receiver waits for as long as that lasts.
#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "fake_http_client.hpp"
#include "fake_process_runner.hpp"
#include "notify_fixture.hpp"
#include "refusals.hpp"
#include "torchwatch/notify/sender.hpp"
#include "torchwatch/outbox/outbox_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

constexpr int kWeekend = 80;  ///< hours

/// Two messages of a receiver that refuses the first, and behind them one of another receiver.
struct ThreeMessages : NotifyFixture {
  explicit ThreeMessages(OutboxKind kind) {
    const std::string place = kind == OutboxKind::webhook ? "webhook/" : "mail/";
    for (const auto* name : {"bad", "good"}) {
      add_webhook(name, std::string("https://") + name + ".example/hook");
      add_mail(name, "exit 0\n");
    }
    queue_message("faulty", kind, place + "bad");
    queue_message("next", kind, place + "bad");
    queue_message("behind", kind, place + "good");
  }

  void queue_message(const std::string& key, OutboxKind kind, const std::string& target) const {
    OutboxRow row;
    row.key = key;
    row.kind = kind;
    row.target = target;
    row.title = "opened";
    row.body = "{}";
    REQUIRE(OutboxStore(*database).queue(row));
  }

  OutboxState state_of(const std::string& key) const { return row_of(key).state; }
  OutboxRow row_of(const std::string& key) const {
    const auto subject = OutboxStore(*database).subject_of(key).value();
    const auto row = std::ranges::find(subject.messages, key, &OutboxRow::key);
    REQUIRE(row != subject.messages.end());
    return *row;
  }

  /// Delivers as the daemon does, an hour after the other.
  void work(platform::HttpClient& client, process::ProcessRunner& mailers, int hours) {
    OutboxStore messages(*database);
    notify::NoticeSender sender({.outbox = messages,
                                 .http = client,
                                 .processes = mailers,
                                 .clock = clock,
                                 .config = config,
                                 .log = log});
    for (int hour = 0; hour < hours; ++hour) {
      REQUIRE(sender.deliver_due({}));
      clock.advance(std::chrono::hours(1));
    }
  }

  /// After a weekend without the receiver: what was refused for its own sake has ended, and the
  /// next is tried; all else waits.
  void check(bool is_of_message) const {
    CHECK(state_of("behind") == OutboxState::sent);
    const auto faulty = row_of("faulty");
    CHECK_FALSE(faulty.last_error.empty());
    CHECK(faulty.state == (is_of_message ? OutboxState::dead : OutboxState::pending));
    CHECK(faulty.tries == (is_of_message ? 3 : 0));
    if (!is_of_message) CHECK(state_of("next") == OutboxState::pending);
  }

  bool is_refused = true;
};

}  // namespace

TEST_CASE("whatever a webhook's receiver answers, others get theirs and it misses nothing") {
  const std::vector<int> of_message{400, 409, 422};
  for (const auto& refusal : test::every_refusal()) {
    INFO(test::name_of(refusal));
    ThreeMessages outbox(OutboxKind::webhook);
    test::FakeHttpClient client(
        [&](const platform::HttpRequest& request) -> Result<platform::HttpResponse> {
          const bool is_bad = request.url.find("bad.example") != std::string::npos;
          return is_bad && outbox.is_refused ? test::refused(refusal) : test::answer(204);
        });
    outbox.work(client, *outbox.processes, kWeekend);
    const auto* status = std::get_if<int>(&refusal);
    const bool is_of_message =
        status != nullptr && std::ranges::find(of_message, *status) != of_message.end();
    outbox.check(is_of_message);
    outbox.is_refused = false;
    if (is_of_message) REQUIRE(OutboxStore(*outbox.database).retry("faulty"));
    outbox.work(client, *outbox.processes, 1);
    CHECK(outbox.state_of("faulty") == OutboxState::sent);
  }
}

TEST_CASE("however sendmail ends, others get their mails and no mail is lost") {
  std::vector<process::ProcessEnd> ends{
      process::Signalled{9}, process::TimedOut{},    process::OutputLimit{},
      process::Abandoned{},  process::MemoryLimit{}, process::SpawnFailed{"no such file"}};
  for (const int status : {1, 63, 64, 65, 67, 68, 69, 70, 71, 74, 75, 76, 77, 78, 79, 127}) {
    ends.emplace_back(process::Exited{status});
  }
  for (const auto& end : ends) {
    INFO(process::describe(end));
    ThreeMessages outbox(OutboxKind::mail);
    int count = 0;
    test::FakeProcessRunner mailers([&](const process::ProcessSpec&, std::stop_token) {
      const bool is_faulty = outbox.state_of("faulty") == OutboxState::sending ||
                             outbox.state_of("next") == OutboxState::sending;
      if (is_faulty) ++count;
      return test::ended(is_faulty && outbox.is_refused ? end
                                                        : process::ProcessEnd{process::Exited{0}});
    });
    test::FakeHttpClient client([](const auto&) { return test::answer(500); });
    outbox.work(client, mailers, kWeekend);
    CHECK(count > 3);
    const auto* exited = std::get_if<process::Exited>(&end);
    const bool is_of_message =
        exited != nullptr && exited->code >= 64 && exited->code <= 78 && exited->code != 75;
    outbox.check(is_of_message);
    outbox.is_refused = false;
    if (is_of_message) REQUIRE(OutboxStore(*outbox.database).retry("faulty"));
    outbox.work(client, mailers, 1);
    CHECK(outbox.state_of("faulty") == OutboxState::sent);
  }
}

TEST_CASE("an event whose rows are damaged keeps no other event from being told") {
  NotifyFixture fixture;
  fixture.add_webhook("chat", "https://chat.example/hook");
  fixture.add_webhook("other", "https://other.example/hook");
  fixture.start();
  const auto damaged = fixture.nightly("2026-08-17", kCommit);
  const auto incident = fixture.incident_of(damaged.id, "slower");
  OutboxRow issue;
  issue.key = "open-1";
  issue.incident = incident.id;
  issue.body = "as it was";
  REQUIRE(OutboxStore(*fixture.database).queue(issue));
  SQLite::Database(fixture.config.storage.path.string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE outbox SET body = 'another' WHERE key = 'open-1'");
  fixture.report(damaged, true);
  fixture.report(fixture.nightly("2026-08-18", kCommit), false);
  std::vector<std::string> left_out;
  const auto queued =
      notify::queue_notices({*fixture.database, fixture.config,
                             [&](const Error& why) { left_out.push_back(why.message); }});
  REQUIRE(queued);
  CHECK(left_out.size() == 2);
  const auto of_second = [](const std::string& receiver) {
    return "webhook-" + receiver + "-nightly-2";
  };
  OutboxStore outbox(*fixture.database);
  for (const auto* receiver : {"chat", "other"}) CHECK(outbox.subject_of(of_second(receiver)));
}
