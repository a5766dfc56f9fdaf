// A message that cannot be delivered never keeps the one behind it from being sent: every error and
// every kind of refusal, at every step of a delivery, with a good message behind it.
#include <array>
#include <catch2/catch.hpp>
#include <variant>

#include "fake_http_client.hpp"
#include "outbox_fixture.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using namespace torchwatch::storage;

namespace {

constexpr const char* kFaulty = "open-1";
constexpr const char* kBehind = "open-2";

/// How GitHub answers, or why it does not.
using Refusal = std::variant<int, ErrorCode>;

const std::vector<Refusal> kRefusals{400,
                                     401,
                                     403,
                                     404,
                                     410,
                                     422,
                                     429,
                                     500,
                                     502,
                                     503,
                                     ErrorCode::invalid,
                                     ErrorCode::not_found,
                                     ErrorCode::conflict,
                                     ErrorCode::corrupt,
                                     ErrorCode::internal,
                                     ErrorCode::failed,
                                     ErrorCode::timed_out,
                                     ErrorCode::unavailable};

Result<platform::HttpResponse> refused(const Refusal& refusal) {
  if (const auto* code = std::get_if<ErrorCode>(&refusal)) return fail(*code, "planted");
  return test::answer(std::get<int>(refusal), R"({"message": "planted"})");
}

std::string name_of(const Refusal& refusal) {
  if (const auto* code = std::get_if<ErrorCode>(&refusal)) return std::string(to_string(*code));
  return std::to_string(std::get<int>(refusal));
}

/// Two issues that are to be opened, each of an incident of its own. Requests of one method about
/// the first are refused.
struct TwoMessages : Outbox {
  TwoMessages(std::string method, const Refusal& refusal)
      : Outbox(own_github_description()),
        client([this, method = std::move(method),
                refusal](const platform::HttpRequest& request) -> Result<platform::HttpResponse> {
          const bool is_of_faulty = row_of(kFaulty).state == OutboxState::sending;
          if (is_of_faulty && is_refused && request.method == method) return refused(refusal);
          return http->send(request);
        }) {
    queue(kFaulty, OutboxKind::open);
    incident = another_incident();
    queue(kBehind, OutboxKind::open);
  }

  Id another_incident() const {
    const auto comparison = ComparisonStore(*database).list(1).value().front();
    IncidentRow row;
    row.comparison = comparison.id;
    row.key = "time-cpu:def";
    row.title = "dlrm cpu-infer time +20.0 %";
    row.opened_at = clock.wall_now();
    return IncidentStore(*database).open(row).value().id;
  }

  OutboxRow row_of(const std::string& key) const {
    const auto subject = OutboxStore(*database).subject_of(key).value();
    for (const auto& row : subject.messages) {
      if (row.key == key) return row;
    }
    FAIL("no message " << key);
    return {};
  }

  /// Delivers as the daemon does, an hour after the other.
  void work(int hours) {
    OutboxStore messages(*database);
    github::OutboxSender sender(messages, client, clock, settings());
    for (int hour = 0; hour < hours; ++hour) {
      REQUIRE(sender.deliver_due({}));
      clock.advance(std::chrono::hours(1));
    }
  }

  bool is_refused = true;
  test::FakeHttpClient client;
};

}  // namespace

TEST_CASE("whatever refuses a message, the one behind it is sent, and what waits uses up no try") {
  for (const auto* method : {"GET", "POST"}) {
    for (const auto& refusal : kRefusals) {
      INFO(method << " meets " << name_of(refusal));
      TwoMessages outbox(method, refusal);
      outbox.work(5);
      CHECK(outbox.row_of(kBehind).state == OutboxState::sent);
      CHECK(issues_with(kBehind, outbox.github) == 1);
      const auto faulty = outbox.row_of(kFaulty);
      CHECK_FALSE(faulty.last_error.empty());
      CHECK(issues_with(kFaulty, outbox.github) == 0);
      if (faulty.state == OutboxState::dead) {
        CHECK(faulty.tries == 3);
        continue;
      }
      CHECK(faulty.state == OutboxState::pending);
      CHECK(faulty.tries == 0);
      CHECK(faulty.failures > 1);
      outbox.is_refused = false;
      outbox.work(1);
      CHECK(outbox.row_of(kFaulty).state == OutboxState::sent);
      CHECK(issues_with(kFaulty, outbox.github) == 1);
    }
  }
}
