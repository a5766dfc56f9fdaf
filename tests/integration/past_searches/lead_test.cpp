// What real commits and stored searches teach about where a culprit lies.
#include "torchwatch/past_searches/lead.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "test_repository.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/storage/bisection_store.hpp"

using namespace torchwatch;
using bisection::RevertOutcome;
using past_searches::lead_among;

namespace {

const std::string kNative = "aten/src/kernel.cpp";
const std::string kPython = "torch/nn/linear.py";

/// A repository that grows by days of four commits, of which one changes native code.
struct Past {
  /// Returns the commits of the day, and behind them the good end.
  std::vector<std::string> day(int native) {
    std::vector<std::string> shas;
    for (int i = 0; i < 4; ++i) {
      test::TestCommit commit;
      commit.subject = std::to_string(++made);
      commit.files[i == native ? kNative : kPython] = commit.subject;
      shas.push_back(repository.commit(commit));
    }
    shas.push_back(std::exchange(tip, shas.back()));
    return shas;
  }

  /// Stores a search of the day that named that commit.
  storage::Id search(const std::vector<std::string>& day, std::vector<std::string> named,
                     RevertOutcome revert = RevertOutcome::not_tried,
                     const std::string& spec = "{}") {
    storage::BisectionRow row;
    row.good = day.back();
    row.bad = day.at(day.size() - 2);
    row.spec_json = spec;
    row.created_at = 1;
    storage::BisectionStore store(*database);
    row = store.open(row).value();
    bisection::BisectionResult result;
    auto& culprit = result.culprits.emplace_back();
    culprit.commits = std::move(named);
    culprit.revert = revert;
    REQUIRE(store.end(row, to_json(result), 2));
    return row.id;
  }

  void days_with_native_culprit(int count) {
    for (int number = 0; number < count; ++number) {
      const auto shas = day(number % 4);
      search(shas, {shas.at(static_cast<std::size_t>(number % 4))});
    }
  }

  Result<std::optional<past_searches::Lead>> lead() {
    const auto shas = day(2);
    const auto history = bisect::CommitHistory::open(repository.path()).value();
    const auto commits = history.range(shas.back(), shas[3]).value();
    const auto patterns = bisect::PathPatterns::create(bisect::default_cannot_change()).value();
    return lead_among(commits, patterns, history, *database);
  }

  test::TemporaryFolder folder;
  test::TestRepository repository{folder.path() / "source.git"};
  std::unique_ptr<storage::Database> database =
      storage::Database::open({.path = folder.path() / "torchwatch.sqlite"}).value();
  int made = 0;
  std::string tip = repository.commit("first");
};

}  // namespace

TEST_CASE("commits that change what culprits changed are looked at first") {
  Past past;
  past.days_with_native_culprit(6);
  const auto lead = past.lead().value();
  REQUIRE(lead);
  CHECK(lead->reason == "the 6 culprits named before changed aten/src (6)");
  REQUIRE(lead->weights.size() == 4);
  CHECK(lead->weights[2] > 1);
  for (const std::size_t other : {0U, 1U, 3U}) {
    CHECK(lead->weights[other] < 1);
    CHECK(lead->weights[other] >= 0.1);
  }
}

TEST_CASE("a few culprits teach nothing") {
  Past past;
  past.days_with_native_culprit(4);
  CHECK_FALSE(past.lead().value());
}

TEST_CASE("culprits that lie everywhere teach nothing") {
  Past past;
  for (int number = 0; number < 8; ++number) {
    const auto shas = past.day(-1);
    past.search(shas, {shas.at(static_cast<std::size_t>(number % 4))});
  }
  const auto history = bisect::CommitHistory::open(past.repository.path()).value();
  const auto shas = past.day(-1);
  const auto patterns = bisect::PathPatterns::create({}).value();
  const auto commits = history.range(shas.back(), shas[3]).value();
  CHECK_FALSE(lead_among(commits, patterns, history, *past.database).value());
}

TEST_CASE("a search that is in doubt teaches nothing") {
  Past past;
  past.days_with_native_culprit(4);
  const auto shas = past.day(0);
  SECTION("it named two commits that cannot be distinguished") {
    past.search(shas, {shas[0], shas[1]});
  }
  SECTION("a revert contradicted it") {
    past.search(shas, {shas[0]}, RevertOutcome::change_stays);
  }
  SECTION("a person disputed it") {
    const auto id = past.search(shas, {shas[0]});
    const nlohmann::json dispute{
        {"dispute", {{"bisection", id}, {"by", "ada"}, {"reason", "a rename"}, {"at", 3}}}};
    past.search(shas, {shas[0], shas[1]}, RevertOutcome::not_tried, dispute.dump());
  }
  SECTION("the repository has its commits no longer") {
    auto gone = shas;
    gone.back() = std::string(40, 'a');
    past.search(gone, {shas[0]});
  }
  SECTION("its commit is not among those of its range") {
    past.search(shas, {std::string(40, 'b')});
  }
  CHECK_FALSE(past.lead().value());
}
