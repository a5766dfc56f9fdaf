// Tests what becomes of a culprit that is taken out of the newest commit.
#include <algorithm>
#include <catch2/catch.hpp>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/evidence/work.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;
using bisection::RevertOutcome;
using Catch::Contains;
using storage::OutboxKind;

namespace {

constexpr std::size_t kCulprit = 5;
constexpr std::size_t kLater = 8;
const std::string kSlow = "time-at-least dlrm cpu-train 1.5";

/// What a day came to whose commit 5 slows down, and whose commit 8 is the given one.
class Day {
 public:
  explicit Day(const test::ScriptedCommit& later) : day_(folder_.path(), commits(later)) {
    auto config = day_.config();
    config.suite.workloads = {"dlrm"};
    config.github.repository = config.github.commits = "owner/name";
    config.github.assign_author = config.github.comment_on_pull = true;
    service_ = test::ScriptedService::open(config).value();
    const auto done = service_->carry_out_due_comparisons();
    if (!done) FAIL(done.error().text());
    REQUIRE(database().check_invariants().value().empty());
    const auto incidents = storage::IncidentStore(database()).list(10).value();
    REQUIRE(incidents.size() == 1);
    REQUIRE(incidents[0].bisection);
    row_ = storage::BisectionStore(database()).get(*incidents[0].bisection).value();
    messages_ = storage::OutboxStore(database()).of_incident(incidents[0].id).value();
    REQUIRE_FALSE(messages_.empty());
  }

  storage::Database& database() { return service_->services().database; }
  const std::string& commit() const { return day_.commits()[kCulprit]; }
  const storage::OutboxRow& issue() const { return messages_.front(); }

  bisection::NamedCulprit culprit() const {
    const auto result = bisection::parse_bisection_result(row_.result_json).value();
    INFO(result.reason);
    REQUIRE(result.culprits.size() == 1);
    return result.culprits.front();
  }

  /// Whether anybody is assigned, or a pull request commented on.
  bool reaches_the_author() const {
    return std::ranges::any_of(messages_, [](const auto& message) {
      return message.kind == OutboxKind::pull_comment || message.target.starts_with("author/");
    });
  }

  evidence::Calibration calibration() {
    return evidence::calibration_of(storage::BisectionStore(database()).list(10).value());
  }

  std::string last_step() {
    const auto events = storage::BisectionStore(database()).events_of(row_.id).value();
    return sentence_on(bisection::trace_of(row_, events).value().back());
  }

 private:
  static std::vector<test::ScriptedCommit> commits(const test::ScriptedCommit& later) {
    std::vector<test::ScriptedCommit> commits{{"Start of the day", "noise 0.01"}};
    while (commits.size() < 12) {
      commits.push_back({"Commit " + std::to_string(commits.size()), "# another"});
    }
    commits[kCulprit] = {"Check every element (#12)", kSlow, "checks"};
    commits[kLater] = later;
    return commits;
  }

  test::TemporaryFolder folder_;
  test::ScriptedDay day_;
  std::unique_ptr<test::ScriptedService> service_;
  storage::BisectionRow row_;
  std::vector<storage::OutboxRow> messages_;
};

}  // namespace

TEST_CASE(
    "a culprit without which a later commit keeps the change is a suspect, and nobody is "
    "assigned") {
  Day day({"Check every element elsewhere, too", kSlow});
  const auto culprit = day.culprit();
  REQUIRE(culprit.commits == std::vector{day.commit()});
  CHECK(culprit.confidence >= 0.99);
  CHECK(culprit.revert == RevertOutcome::change_stays);
  CHECK_THAT(culprit.verified, Contains("reverting it on the newest commit leaves the change (with "
                                        "the commit: dlrm cpu-train time "));
  CHECK_THAT(day.issue().title, Contains(", likely by " + day.commit().substr(0, 7)));
  CHECK_THAT(day.issue().body,
             Contains(" most likely made `dlrm cpu-train` slower by ") &&
                 Contains(", although the change stays when it is taken out.") &&
                 Contains("### Most likely culprit\n") &&
                 Contains("\nThe change stays when this commit is taken out of the newest one: ") &&
                 !Contains("% sure"));
  CHECK_FALSE(day.reaches_the_author());
  CHECK(day.calibration().named == 1);
  CHECK(day.calibration().held() == 0);
  CHECK_THAT(day.last_step(),
             Contains("built the newest commit without ") && Contains(": leaves the change"));
}

TEST_CASE("a culprit that takes the change with it is named, and its author assigned") {
  Day day({"Commit 8", "# another"});
  CHECK(day.culprit().revert == RevertOutcome::change_gone);
  CHECK_THAT(day.issue().body, Contains("### Culprit\n"));
  CHECK(day.reaches_the_author());
  CHECK(day.calibration().held() == 1);
  CHECK_THAT(day.last_step(), Contains(": undoes the change"));
}

TEST_CASE("a culprit that cannot be taken out is named as before, with the reason") {
  Day day({"Check every element in another order", kSlow + "\n# in another order", "checks"});
  const auto culprit = day.culprit();
  REQUIRE(culprit.commits == std::vector{day.commit()});
  CHECK(culprit.revert == RevertOutcome::impossible);
  CHECK_THAT(culprit.verified, Contains("was not possible ("));
  CHECK_THAT(day.issue().body, Contains("### Culprit\n"));
  CHECK(day.reaches_the_author());
  CHECK(day.calibration().held() == 1);
}
