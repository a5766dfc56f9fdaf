#include "torchwatch/evidence/comparison_list.hpp"

#include <map>
#include <set>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/outcome.hpp"
#include "torchwatch/report/setback.hpp"
#include "torchwatch/report/unread.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/runs/trunk_range_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/study_store.hpp"

namespace torchwatch::evidence {
namespace {

using report::Unread;
using storage::ComparisonRow;
using storage::Id;

template <typename Value>
using ById = Result<std::map<Id, Value>>;

template <typename Value>
Result<std::optional<Value>> value_of(Id comparison, const ById<Value>& all) {
  if (!all) return fail(all.error());
  const auto found = all->find(comparison);
  return found == all->end() ? std::nullopt : std::optional(found->second);
}

/// What is read of many comparisons at once; each kind is an error of its own.
struct ReadAtOnce {
  std::map<Id, Result<storage::VerdictCounts>> verdicts = {};
  ById<std::int64_t> can_matter = {};  ///< numbers of commits
  ById<storage::WallMillis> first_runs = {};
  ById<int> benchmarks_lost = {};
  ById<Id> self_tests = {};  ///< by the comparison that one is near
  std::map<Id, Result<storage::VerdictCounts>> verdicts_of_self_tests = {};
};

ReadAtOnce read_at_once(storage::Database& database, const std::vector<Id>& ids, bool with_rest) {
  storage::ComparisonStore comparisons(database);
  ReadAtOnce all{.verdicts = comparisons.verdict_counts(ids),
                 .can_matter = storage::TrunkRangeStore(database).find_each(ids)};
  if (!with_rest) return all;
  storage::EvidenceReader reader(database);
  all.first_runs = reader.first_runs_of(ids);
  all.benchmarks_lost = reader.benchmarks_lost_in(ids);
  all.self_tests = reader.self_tests_near(ids);
  std::set<Id> near;
  if (all.self_tests) {
    for (const auto& [comparison, self_test] : *all.self_tests) near.insert(self_test);
  }
  all.verdicts_of_self_tests = comparisons.verdict_counts({near.begin(), near.end()});
  return all;
}

Result<std::optional<double>> seconds_of(const ComparisonRow& row, const ReadAtOnce& all) {
  constexpr double kMillisPerSecond = 1000;
  if (row.ended_at == 0) return std::nullopt;
  TW_TRY(const auto began_at, value_of(row.id, all.first_runs));
  if (!began_at || *began_at > row.ended_at) return std::nullopt;
  return static_cast<double>(row.ended_at - *began_at) / kMillisPerSecond;
}

Result<std::optional<SelfTestResult>> self_test_of(const ComparisonRow& row,
                                                   const ReadAtOnce& all) {
  const bool is_test =
      row.purpose == storage::Purpose::self_test || row.purpose == storage::Purpose::drill;
  if (is_test) return std::nullopt;
  TW_TRY(const auto near, value_of(row.id, all.self_tests));
  if (!near) return std::nullopt;
  TW_TRY(auto counts, all.verdicts_of_self_tests.at(*near));
  storage::SelfTestTally tally{.inconclusive = counts[Verdict::inconclusive],
                               .regressed = counts[Verdict::regressed],
                               .improved = counts[Verdict::improved]};
  tally.series = counts[Verdict::unchanged] + tally.inconclusive + false_alarms_of(tally);
  return SelfTestResult{.comparison = *near, .tally = tally};
}

/// Reads each build once, as neighbours in a list share them.
class Builds {
 public:
  explicit Builds(storage::Database& database) : store_(database) {}

  const Result<storage::BuildRow>& get(Id id) {
    const auto known = read_.find(id);
    return known != read_.end() ? known->second : read_.emplace(id, store_.get(id)).first->second;
  }

 private:
  storage::BuildStore store_;
  std::map<Id, Result<storage::BuildRow>> read_;
};

Result<std::string> wait_of(storage::Database& database, const ComparisonRow& row) {
  if (is_end(row.state)) return std::string();
  return report::what_it_waits_for(database, storage::ItemKind::comparison, row.id);
}

/// Reads the lists' facts of one comparison after the other.
class ListReader {
 public:
  ListReader(storage::Database& database, const std::vector<Id>& ids, const ListSettings& settings)
      : database_(database),
        settings_(settings),
        builds_(database),
        all_(read_at_once(database, ids, settings.with_rest)) {}

  ComparisonInList read(const ComparisonRow& row) {
    Unread unread;
    ComparisonInList item{.id = row.id, .row = row};
    item.named = named_by(row, unread);
    if (item.named.baseline && item.named.candidate) {
      item.range = report::trunk_range_of(*item.named.baseline, *item.named.candidate,
                                          settings_.count_commits);
    }
    const auto can_matter = value_of(row.id, all_.can_matter);
    item.can_matter = unread.value(can_matter, "how many of its commits can matter");
    item.verdicts = unread.value(all_.verdicts.at(row.id), "its verdicts");
    if (settings_.with_rest) read_rest(row, item, unread);
    item.unread = unread.text();
    return item;
  }

 private:
  report::NamedByComparison named_by(const ComparisonRow& row, Unread& unread) {
    report::NamedByComparison named;
    named.candidate = unread.known(builds_.get(row.candidate), "its candidate");
    if (row.baseline) named.baseline = unread.known(builds_.get(*row.baseline), "its baseline");
    if (row.purpose == storage::Purpose::study) {
      named.study = unread.value(storage::StudyStore(database_).find(row.id), "its settings");
    }
    const auto word =
        report::result_word(database_, row, all_.verdicts.at(row.id), settings_.at_work);
    named.result = unread.value(word, "its result");
    named.waits_for = unread.value(wait_of(database_, row), "what it waits for");
    return named;
  }

  void read_rest(const ComparisonRow& row, ComparisonInList& item, Unread& unread) const {
    item.seconds = unread.value(seconds_of(row, all_), "how long it took");
    const auto lost = value_of(row.id, all_.benchmarks_lost);
    item.benchmarks_lost = unread.value(lost, "the benchmarks that it lost");
    const auto self_test = self_test_of(row, all_);
    item.self_test = unread.value(self_test, "the self-test near it");
  }

  storage::Database& database_;
  const ListSettings& settings_;
  Builds builds_;
  const ReadAtOnce all_;
};

}  // namespace

std::vector<ComparisonInList> in_list(storage::Database& database,
                                      const std::vector<storage::ListedComparison>& listed,
                                      const ListSettings& settings) {
  std::vector<Id> ids;
  for (const auto& each : listed) {
    if (each.row) ids.push_back(each.id);
  }
  ListReader reader(database, ids, settings);
  std::vector<ComparisonInList> items;
  for (const auto& each : listed) {
    Unread unread;
    const auto row = unread.known(each.row, "it");
    items.push_back(row ? reader.read(*row)
                        : ComparisonInList{.id = each.id, .unread = unread.text()});
  }
  return items;
}

int false_alarms_of(const storage::SelfTestTally& tally) {
  return tally.regressed + tally.improved;
}

std::string false_alarms_text(const storage::SelfTestTally& tally) {
  return figures::grouped(false_alarms_of(tally)) + " of " + figures::grouped(tally.series);
}

}  // namespace torchwatch::evidence
