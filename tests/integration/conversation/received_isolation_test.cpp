// What was received and cannot be worked off never keeps the one behind it from being done: every
// error and every kind of refusal, at each request that an item of either kind needs.
#include <catch2/catch.hpp>

#include "refusals.hpp"
#include "talk.hpp"

using namespace torchwatch;
using storage::ReceivedState;
using test::Refusal;

namespace {

struct Step {
  storage::ReceivedKind kind;
  const char* part;  ///< of the address that is refused
};

const std::vector<Step> kSteps{{storage::ReceivedKind::comment, "/collaborators/cem/"},
                               {storage::ReceivedKind::comment, "/reactions"},
                               {storage::ReceivedKind::issue, "/issues/1/events"},
                               {storage::ReceivedKind::issue, "/issues/1"}};

/// GitHub says so of an issue that was deleted, which is an answer.
bool is_answer(const Refusal& refusal, const std::string& part) {
  const auto* status = std::get_if<int>(&refusal);
  return part == "/issues/1" && status != nullptr && (*status == 404 || *status == 410);
}

bool is_asked_for(const platform::HttpRequest& request, const std::string& part) {
  const auto path = request.url.substr(0, request.url.find('?'));
  return part.ends_with('/') || part == "/reactions" ? path.find(part) != std::string::npos
                                                     : path.ends_with(part);
}

}  // namespace

TEST_CASE("whatever an item meets, the one behind it is done") {
  Talk talk;
  storage::ReceivedStore received(talk.database());
  storage::Id next = 1;
  for (const auto& [kind, part] : kSteps) {
    for (const auto& refusal : test::every_refusal()) {
      if (is_answer(refusal, part)) continue;
      INFO(to_string(kind) << " meets " << test::name_of(refusal) << " at " << part);
      talk.github.set_fault([&, step = std::string(part)](const platform::HttpRequest& request)
                                -> std::optional<Result<platform::HttpResponse>> {
        if (!is_asked_for(request, step)) return std::nullopt;
        return test::refused(refusal);
      });
      const bool is_comment = kind == storage::ReceivedKind::comment;
      CHECK(talk.hook(is_comment ? talk.github.people.comment("cem", 1, "/ack x")
                                 : talk.github.people.label("ada", 1, "perf")) == 202);
      // Behind it a comment that needs no rights.
      CHECK(talk.hook(talk.github.people.comment("bea", 1, "/bisect help")) == 202);
      REQUIRE(talk.inbox->work({}));
      const auto faulty = received.get(next).value();
      const auto behind = received.get(next + 1).value();
      CHECK(behind.state == ReceivedState::done);
      CHECK(behind.result == "help: done");
      if (faulty.state == ReceivedState::pending) CHECK_FALSE(faulty.error.empty());
      // Once GitHub answers again, what waits is done.
      talk.github.set_fault({});
      talk.pass(std::chrono::hours(1));
      REQUIRE(talk.inbox->work({}));
      CHECK(received.get(next).value().state != ReceivedState::pending);
      next = received.get(next + 1).value().id + 1;
      while (received.get(next)) ++next;
    }
  }
  CHECK(talk.incident().state == storage::IncidentState::open);
}

TEST_CASE("an item that takes the service down is given up after three times") {
  Talk talk;
  talk.hook(talk.github.people.label("ada", 1, "perf"));
  talk.hook(talk.github.people.comment("bea", 1, "/bisect help"));
  storage::ReceivedStore received(talk.database());
  for (int i = 0; i < 3; ++i) {
    CHECK(received.get(1).value().state == ReceivedState::pending);
    REQUIRE(received.begin(1));  // and there the process died
    talk.restart();
    talk.work();
    talk.pass(std::chrono::seconds(1));
    if (i == 0) CHECK(received.get(2).value().state == ReceivedState::done);
  }
  CHECK(received.get(1).value().state == ReceivedState::failed);
  CHECK_THAT(received.get(1).value().result, Catch::Contains("given up after 3 tries"));
}

TEST_CASE("a comment that only polling saw is answered, one that was edited before is not") {
  Talk talk;
  CHECK(talk.work().empty());
  talk.pass(std::chrono::minutes(1));
  talk.github.people.comment("bea", 1, "/ack known");
  talk.github.people.comment("ada", 1, "/bisect help");
  const auto edited = talk.github.issue(1).comments.back().id;
  talk.pass(std::chrono::minutes(1));
  talk.github.people.edit_comment(edited, "/cancel");
  talk.pass(std::chrono::minutes(10));
  CHECK(talk.work().empty());
  CHECK(talk.newest_decision() == "acknowledged by bea (github bea): known");
  CHECK(talk.github.issue(1).comments.size() == 3);
}
