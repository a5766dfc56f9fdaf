// A search whose machine becomes another one while it is under way: what its ends read is then no
// measure for a run alone, and it must go on in pairs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/night.hpp"
#include "torchwatch/nightly/search_course.hpp"
#include "torchwatch/nightly/search_result.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;

namespace {

constexpr std::size_t kCulprit = 5;

std::vector<test::ScriptedCommit> day_with_one_culprit() {
  auto commits = test::day_with_two_culprits();
  commits[8].behaviour = "# harmless";
  return commits;
}

/// Only runs apart can be read alone.
std::unique_ptr<test::ScriptedService> open(const test::ScriptedDay& day) {
  auto config = day.config();
  config.measure.take_turns = false;
  return test::ScriptedService::open(config).value();
}

/// As soon as the search orders its first run alone, the kernel is another one, on which
/// everything takes longer: held against the ends, every commit would be bad.
class OtherKernel final : public nightly::Progress {
 public:
  explicit OtherKernel(std::filesystem::path scratch) : scratch_(std::move(scratch)) {}

  void began(const std::string& what) override {
    const bool is_alone =
        what.starts_with("probe: ") && what.find(" against ") == std::string::npos;
    if (is_booted_ && is_interrupting_) stop_.request_stop();
    if (is_booted_ || !is_alone) return;
    std::ofstream(scratch_ / "behaviour") << "fact kernel 6.2\ntime * * 1.5\n";
    is_booted_ = true;
  }
  void at(int, int, const std::string&) override {}
  void note(const std::string&) override {}

  /// Stops the service at its next step after that.
  void interrupt() { is_interrupting_ = true; }
  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::filesystem::path scratch_;
  std::stop_source stop_;
  bool is_booted_ = false;
  bool is_interrupting_ = false;
};

/// The night of the day, told to `progress`.
Result<std::vector<storage::NightRow>> carry_out(test::ScriptedService& service,
                                                 OtherKernel& progress) {
  auto& own = service.workshop();
  nightly::Workshop workshop{own.config,  own.database, own.executor, own.runners, own.channel,
                             own.history, own.commits,  own.clock,    own.random,  progress};
  TW_TRY(const auto due, nightly::discover_nights(workshop, {}));
  return nightly::carry_out_nights(workshop, due, [] { return Status{}; }, progress.token());
}

/// The only search, with its commits and what it did in order.
struct Search {
  nightly::SearchResult result;
  std::vector<nightly::CourseStep> steps;

  long count(const std::string& kind) const {
    return std::ranges::count(steps, kind, &nightly::CourseStep::kind);
  }
};

Search search_in(storage::Database& database) {
  storage::BisectionStore store(database);
  const auto rows = store.list(10).value();
  REQUIRE(rows.size() == 1);
  return {nightly::parse_search_result(rows[0].answer_json).value(),
          nightly::course_of(rows[0], store.events_of(rows[0].id).value()).value()};
}

void check_that_it_went_on_in_pairs(const Search& search, const std::string& culprit) {
  INFO(search.result.reason);
  CHECK(search.result.culprit() == culprit);
  CHECK(search.count("level_lost") == 1);
  CHECK(search.count("measured_alone") == 0);
  const auto lost = std::ranges::find(search.steps, "level_lost", &nightly::CourseStep::kind);
  REQUIRE(lost != search.steps.end());
  CHECK(lost->reason.find("kernel") != std::string::npos);
  const bool probed_in_pairs = std::any_of(lost, search.steps.end(), [](const auto& step) {
    return step.kind == "measured" && step.purpose == "probe";
  });
  CHECK(probed_in_pairs);
}

}  // namespace

TEST_CASE("a search whose machine changes goes on in pairs and names the culprit all the same") {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), day_with_one_culprit());
  const auto service = open(day);
  OtherKernel progress(day.config().executor.scratch);
  REQUIRE(carry_out(*service, progress));

  auto& database = service->workshop().database;
  check_that_it_went_on_in_pairs(search_in(database), day.commits()[kCulprit]);
  REQUIRE(database.check_invariants().value().empty());
}

TEST_CASE("a search that was ended after its machine changed does not read builds alone again") {
  const test::TemporaryFolder folder;
  const test::ScriptedDay day(folder.path(), day_with_one_culprit());
  {
    const auto service = open(day);
    OtherKernel progress(day.config().executor.scratch);
    progress.interrupt();
    const auto ended = carry_out(*service, progress);
    REQUIRE_FALSE(ended);
    REQUIRE(ended.error().code == ErrorCode::cancelled);
  }
  const auto service = open(day);
  REQUIRE(service->carry_out_due_nights());
  auto& database = service->workshop().database;
  check_that_it_went_on_in_pairs(search_in(database), day.commits()[kCulprit]);
  REQUIRE(database.check_invariants().value().empty());
}
