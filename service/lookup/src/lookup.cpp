#include "torchwatch/lookup/lookup.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::lookup {
namespace {

using storage::Id;
using Terms = std::vector<std::string>;

constexpr int kRowsRead = 500;               ///< of incidents and bisections, the newest
constexpr int kSearchesFollowed = 200;       ///< bisections whose steps are read, the newest
constexpr std::size_t kOperatorsFound = 20;  ///< of one word
constexpr int kBuildsFound = 50;  ///< the newest that fit: a version fits each of its nightlies
constexpr std::size_t kShaMin = 7;
constexpr std::size_t kShaMax = 64;

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
  const bool is_sha = words.size() == 1 && is_hex(words.front(), kShaMin, kShaMax);
  return is_sha ? std::optional(words.front()) : std::nullopt;
}

/// The commit that an event names; empty where it names none.
std::string commit_in(const storage::BisectionEventRow& event) {
  const auto body = report::embedded(event.body_json);
  const auto commit = body.is_object() ? body.find("commit") : body.end();
  return commit != body.end() && commit->is_string() ? commit->get<std::string>() : "";
}

void add_words(const nlohmann::json& value, std::string& words) {
  if (value.is_string()) words += value.get<std::string>() + " ";
  if (value.is_structured()) {
    for (const auto& each : value) add_words(each, words);
  }
}

/// All texts of what was asked.
std::string asked_words(const std::string& body_json) {
  std::string words;
  add_words(report::embedded(body_json), words);
  return words;
}

/// "Model X, kernel 6.1": what people know a machine by.
std::string text_of(const storage::MachineRow& machine) {
  std::string text;
  for (const auto* fact : {"cpu_model", "gpu_model", "kernel"}) {
    const auto found = machine.facts.find(fact);
    if (found == machine.facts.end() || found->second.empty()) continue;
    const bool is_kernel = fact == std::string_view("kernel");
    text += (text.empty() ? "" : ", ") + std::string(is_kernel ? "kernel " : "") + found->second;
  }
  return text;
}

/// Gathers what is found, each with its rank.
class Search {
 public:
  Search(const evidence::Context& context, Terms words)
      : context_(context), words_(std::move(words)) {}

  Result<std::vector<Found>> run(std::size_t limit, const Suite& suite) {
    TW_TRY_VOID(add_numbered());
    TW_TRY_VOID(add_series());
    add_workloads(suite);
    TW_TRY_VOID(add_builds());
    TW_TRY_VOID(add_incidents());
    TW_TRY_VOID(add_commits());
    TW_TRY_VOID(add_tried());
    TW_TRY_VOID(add_machines());
    TW_TRY_VOID(add_requests());
    TW_TRY_VOID(add_operators());
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
    return std::string(spelling(found.kind)) + " " + found.name + " " + found.path;
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

  void add_workload(const std::string& name) {
    add(rank_of(words_, name), {FoundKind::workload, name, "workload", "workloads/" + name});
  }

  void add_workloads(const Suite& suite) {
    const auto listed = suite ? suite() : Result<nlohmann::json>(nlohmann::json::array());
    if (!listed) return;
    for (const auto& workload : *listed) add_workload(workload.value("name", ""));
  }

  Status add_series() {
    TW_TRY(const auto all, storage::RunStore(context_.database).all_series());
    for (const auto& series : all) {
      const auto& [workload, configuration, variant] = series.benchmark;
      add_workload(workload);
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
      const auto name = evidence::name_of(build, context_);
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

  /// Commits that the newest searches tried, and their ends.
  Status add_tried() {
    const auto sha = sha_in(words_);
    if (!sha) return {};
    storage::BisectionStore store(context_.database);
    TW_TRY(const auto rows, store.list(kSearchesFollowed));
    for (const auto& row : rows) {
      TW_TRY(const auto events, store.events_of(row.id));
      std::set<std::string> tried{row.good, row.bad};
      for (const auto& event : events) {
        // Most have the belief in every commit, which is long, and nothing else is looked for.
        if (event.body_json.find(*sha) != std::string::npos) tried.insert(commit_in(event));
      }
      const auto number = std::to_string(row.id);
      for (const auto& commit : tried) {
        if (!commit.starts_with(*sha)) continue;
        add(2, {FoundKind::commit, commit, "tried by bisection " + number, "bisections/" + number});
      }
    }
    return {};
  }

  Status add_machines() {
    constexpr int kExact = 3;
    TW_TRY(const auto machines, storage::RunReader(context_.database).machines());
    const auto id = number_in(words_);
    for (const auto& machine : machines) {
      const auto text = text_of(machine);
      const auto number = std::to_string(machine.id);
      add(id == machine.id ? kExact
                           : std::min(rank_of(words_, "machine " + number + " " + text), 1),
          {FoundKind::machine, number, text, "machines/" + number});
    }
    return {};
  }

  /// What was asked names paths of this machine: strangers find a request by its number alone.
  Status add_requests() {
    constexpr int kExact = 3;
    storage::RequestStore store(context_.database);
    const auto said = [](const storage::RequestRow& row) {
      return std::string(to_string(row.kind)) + ", " + std::string(to_string(row.state));
    };
    const auto found = [&](const storage::RequestRow& row) {
      const auto number = std::to_string(row.id);
      return Found{FoundKind::request, number, said(row), "requests/" + number};
    };
    if (const auto id = number_in(words_)) {
      TW_TRY(const auto row, if_stored(store.get(*id)));
      if (row) add(kExact, found(*row));
    }
    if (!context_.is_trusted) return {};
    TW_TRY(const auto rows, store.list(kRowsRead));
    for (const auto& row : rows) {
      add(std::min(rank_of(words_, asked_words(row.body_json)), 1), found(row));
    }
    return {};
  }

  /// Operators of the newest build with coverage, which are some thousands of rows: only where a
  /// word names nothing else by its beginning.
  Status add_operators() {
    const bool is_one_word = words_.size() == 1 && words_.front().size() >= 3;
    const bool is_named =
        std::ranges::any_of(ranked_, [](const auto& each) { return each.rank > 1; });
    if (!is_one_word || is_named) return {};
    storage::EvidenceReader reader(context_.database);
    TW_TRY(const auto build, reader.observed_before(Pass::coverage, INT64_MAX));
    if (!build) return {};
    TW_TRY(const auto calls, reader.operators_of(*build));
    std::set<std::string> names;
    for (const auto& call : calls) {
      if (rank_of(words_, call.name) > 0) names.insert(call.name);
    }
    std::size_t count = 0;
    for (const auto& name : names) {
      if (++count > kOperatorsFound) break;
      add(rank_of(words_, name), {FoundKind::operation, name, "operator", "coverage"});
    }
    return {};
  }

  const evidence::Context& context_;
  Terms words_;
  std::vector<Ranked> ranked_;
  std::set<std::string> known_;  ///< what was found already
};

}  // namespace

Result<std::vector<Found>> look_up(const evidence::Context& context, const std::string& words,
                                   std::size_t limit, const Suite& suite) {
  std::istringstream text(lower(words));
  Terms each;
  for (std::string word; text >> word;) each.push_back(std::move(word));
  if (each.empty()) return std::vector<Found>{};
  return Search(context, std::move(each)).run(limit, suite);
}

}  // namespace torchwatch::lookup
