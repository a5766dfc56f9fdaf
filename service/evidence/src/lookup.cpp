#include "torchwatch/evidence/lookup.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::evidence {
namespace {

using storage::Id;
using Terms = std::vector<std::string>;

constexpr int kRowsRead = 500;    ///< of incidents and bisections, the newest
constexpr int kBuildsFound = 50;  ///< the newest that fit: a version fits each of its nightlies
constexpr std::size_t kShaMin = 7;

/// How well words name a text: 3 it is what they say, 2 it begins so, 1 it has them all, 0 not.
int rank_of(const Terms& words, const std::string& text) {
  const auto whole = lower(text);
  const bool has_all = std::ranges::all_of(
      words, [&](const auto& word) { return whole.find(word) != std::string::npos; });
  if (!has_all) return 0;
  if (words.size() > 1 || !whole.starts_with(words.front())) return 1;
  return whole == words.front() ? 3 : 2;
}

std::optional<Id> number_in(const Terms& words) {
  if (words.size() != 1) return std::nullopt;
  std::string_view text = words.front();
  if (text.starts_with('#')) text.remove_prefix(1);
  Id number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && end == text.data() + text.size() && number > 0;
  return is_number ? std::optional(number) : std::nullopt;
}

/// The beginning of a commit, if the words can be one.
std::optional<std::string> sha_in(const Terms& words) {
  const bool is_sha = words.size() == 1 && words.front().size() >= kShaMin &&
                      words.front().find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_sha ? std::optional(words.front()) : std::nullopt;
}

/// Gathers what is found, each with its rank.
class Search {
 public:
  Search(const Context& context, Terms words) : context_(context), words_(std::move(words)) {}

  Result<std::vector<Found>> run(std::size_t limit) {
    TW_TRY_VOID(add_numbered());
    TW_TRY_VOID(add_series());
    TW_TRY_VOID(add_builds());
    TW_TRY_VOID(add_incidents());
    TW_TRY_VOID(add_commits());
    std::ranges::stable_sort(ranked_, std::greater{}, &Ranked::rank);
    std::vector<Found> found;
    for (auto& each : ranked_) {
      if (found.size() == limit) break;
      found.push_back(std::move(each.found));
    }
    return found;
  }

 private:
  struct Ranked {
    int rank = 0;
    Found found;
  };

  void add(int rank, Found found) {
    if (rank == 0 || !known_.insert(spelled(found)).second) return;
    ranked_.push_back({rank, std::move(found)});
  }

  static std::string spelled(const Found& found) {
    return std::string(spelling(found.kind)) + " " + found.name;
  }

  void add_comparison(int rank, const storage::ComparisonRow& row) {
    const auto number = std::to_string(row.id);
    add(rank, {FoundKind::comparison, number,
               std::string(to_string(row.purpose)) + ", " + std::string(to_string(row.state)),
               "comparisons/" + number});
  }

  void add_incident(int rank, const storage::IncidentRow& row) {
    const auto number = std::to_string(row.id);
    add(rank, {FoundKind::incident, number, row.title, "incidents/" + number});
  }

  /// What has the number that was asked for.
  Status add_numbered() {
    constexpr int kExact = 3;
    const auto id = number_in(words_);
    if (!id) return {};
    TW_TRY(const auto incident, if_stored(storage::IncidentStore(context_.database).get(*id)));
    if (incident) add_incident(kExact, *incident);
    TW_TRY(const auto comparison, if_stored(storage::ComparisonStore(context_.database).get(*id)));
    if (comparison) add_comparison(kExact, *comparison);
    TW_TRY(const auto search, if_stored(storage::BisectionStore(context_.database).get(*id)));
    if (!search) return {};
    const auto number = std::to_string(*id);
    add(kExact, {FoundKind::bisection, number,
                 short_sha(search->good) + " to " + short_sha(search->bad) + ", " +
                     std::string(to_string(search->state)),
                 "bisections/" + number});
    return {};
  }

  template <typename Row>
  static Result<std::optional<Row>> if_stored(Result<Row> row) {
    if (row) return std::optional(*std::move(row));
    if (row.error().code == ErrorCode::not_found) return std::nullopt;
    return fail(row.error());
  }

  Status add_series() {
    TW_TRY(const auto all, storage::RunStore(context_.database).all_series());
    for (const auto& series : all) {
      const auto& [workload, configuration, variant] = series.benchmark;
      add(rank_of(words_, workload),
          {FoundKind::workload, workload, "workload", "workloads/" + workload});
      const auto name = workload + "/" + to_string(configuration) + "/" + to_string(variant) + "/" +
                        std::string(to_string(series.metric));
      const auto words = to_string(series) + " " + std::string(figures::name_of(series.metric));
      // Behind the workload itself.
      add(std::min(rank_of(words_, words), 1),
          {FoundKind::series, name, to_string(series), "series/" + name});
    }
    return {};
  }

  Status add_builds() {
    TW_TRY(auto builds, storage::BuildStore(context_.database).list());
    std::ranges::sort(builds, std::greater{}, &storage::BuildRow::id);
    storage::ComparisonStore comparisons(context_.database);
    int matches = 0;
    for (const auto& build : builds) {
      const auto name = name_of(build, context_);
      int rank = std::max(rank_of(words_, name), rank_of(words_, build.version));
      if (const auto sha = sha_in(words_); sha && build.trunk_commit.starts_with(*sha)) rank = 2;
      if (rank == 0) continue;
      if (++matches > kBuildsFound) break;
      const auto id = std::to_string(build.id);
      add(rank, {FoundKind::build, id, name, "builds/" + id});
      if (build.origin != storage::BuildOrigin::nightly) continue;
      TW_TRY(const auto comparison, comparisons.nightly_of(build.id));
      if (comparison) add_comparison(rank, *comparison);
    }
    return {};
  }

  Status add_incidents() {
    TW_TRY(const auto rows, storage::IncidentStore(context_.database).list(kRowsRead));
    for (const auto& row : rows) add_incident(rank_of(words_, row.title), row);
    return {};
  }

  /// Commits that searches named for incidents.
  Status add_commits() {
    constexpr int kExact = 3;
    const auto sha = sha_in(words_);
    if (!sha) return {};
    TW_TRY(const auto rows, storage::BisectionStore(context_.database).list(kRowsRead));
    for (const auto& row : rows) {
      const auto result = bisection::parse_bisection_result(row.result_json);
      if (!result || !row.incident) continue;
      const auto incident = std::to_string(*row.incident);
      for (const auto& culprit : result->culprits) {
        for (const auto& commit : culprit.commits) {
          if (!commit.starts_with(*sha)) continue;
          add(kExact, {FoundKind::commit, commit, "named by incident " + incident,
                       "incidents/" + incident});
        }
      }
    }
    return {};
  }

  const Context& context_;
  Terms words_;
  std::vector<Ranked> ranked_;
  std::set<std::string> known_;  ///< what was found already
};

}  // namespace

Result<std::vector<Found>> look_up(const Context& context, const std::string& words,
                                   std::size_t limit) {
  std::istringstream text(lower(words));
  Terms each;
  for (std::string word; text >> word;) each.push_back(std::move(word));
  if (each.empty()) return std::vector<Found>{};
  return Search(context, std::move(each)).run(limit);
}

}  // namespace torchwatch::evidence
