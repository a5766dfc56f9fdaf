#include "torchwatch/report/outcome.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "torchwatch/detect/time_verdict.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::report {
namespace {

using storage::ComparisonState;
using storage::VerdictRow;

bool is_of_lost(const std::vector<storage::IncidentRow>& incidents, const Series& series) {
  return std::ranges::any_of(incidents, [&](const storage::IncidentRow& incident) {
    return incident.kind == IncidentKind::lost &&
           std::ranges::find(incident.series, series, &storage::IncidentSeriesRow::series) !=
               incident.series.end();
  });
}

std::vector<VerdictRow>& part_for(SortedVerdicts& sorted, const VerdictRow& row,
                                  const std::vector<storage::IncidentRow>& incidents) {
  switch (row.verdict) {
    case Verdict::regressed:
      return sorted.regressed;
    case Verdict::improved:
      return sorted.improved;
    case Verdict::unchanged:
      return sorted.unchanged;
    case Verdict::inconclusive:
      return sorted.undecided;
    case Verdict::failed:
    case Verdict::unsupported:
      break;
  }
  if (is_of_lost(incidents, row.series)) return sorted.lost;
  return row.verdict == Verdict::failed ? sorted.failed : sorted.unsupported;
}

/// What the verdicts come to; nothing where there are none.
Result<std::string> word_of_verdicts(storage::Database& database, storage::Id comparison,
                                     storage::VerdictCounts counts) {
  if (counts[Verdict::regressed] > 0) return "regressed";
  TW_TRY(const auto incidents, storage::IncidentStore(database).of_comparison(comparison));
  const bool is_lost = std::ranges::any_of(
      incidents, [](const auto& incident) { return incident.kind == IncidentKind::lost; });
  if (is_lost) return "lost";
  if (counts[Verdict::improved] > 0) return "improved";
  if (counts[Verdict::unchanged] > 0) return "unchanged";
  const auto unclear =
      counts[Verdict::inconclusive] + counts[Verdict::failed] + counts[Verdict::unsupported];
  return unclear > 0 ? "inconclusive" : "";
}

/// The same of a drill, whose slowdown must be found.
std::string word_of_drill(storage::VerdictCounts& counts) {
  if (counts[Verdict::regressed] > 0) return "found";
  return counts[Verdict::unchanged] + counts[Verdict::improved] > 0 ? "missed" : "inconclusive";
}

/// A state names what is done; what comes next is what is at work.
std::string word_of_stage(ComparisonState state, bool is_at_work) {
  if (!is_at_work) return "waiting";
  switch (state) {
    case ComparisonState::discovered:
      return "preparing";
    case ComparisonState::ready:
      return "measuring";
    case ComparisonState::measured:
      return "judging";
    case ComparisonState::judged:
      return "searching";
    default:
      return "reporting";
  }
}

}  // namespace

Result<std::string> result_word(storage::Database& database, const storage::ComparisonRow& row,
                                std::optional<storage::Id> at_work) {
  const auto counts = storage::ComparisonStore(database).verdict_counts({row.id});
  return result_word(database, row, counts.at(row.id), at_work);
}

Result<std::string> result_word(storage::Database& database, const storage::ComparisonRow& row,
                                const Result<storage::VerdictCounts>& counts,
                                std::optional<storage::Id> at_work) {
  const bool is_searched =
      row.state == ComparisonState::bisected || row.state == ComparisonState::reported;
  if (is_searched) {
    TW_TRY(auto known, counts);
    if (row.purpose == storage::Purpose::drill) return word_of_drill(known);
    TW_TRY(auto word, word_of_verdicts(database, row.id, std::move(known)));
    if (!word.empty()) return word;
  }
  if (!is_end(row.state)) return word_of_stage(row.state, at_work == row.id);
  if (row.state == ComparisonState::accepted) {
    return row.purpose == storage::Purpose::measurement ? "measured" : "first";
  }
  return std::string(to_string(row.state));
}

std::string series_text(std::size_t count) {
  return figures::grouped(static_cast<std::int64_t>(count)) + " series";
}

std::string unchanged_text(double confidence) {
  return fmt::format(
      "A change as large as the threshold was excluded at {} by the look that decided. As there "
      "are several looks, about one such change in twenty is missed where pairs scatter by less "
      "than half as much, and about one in five at worst. The {} intervals are wider and may reach "
      "beyond it.",
      figures::confidence(1 - 2 * detect::kUnchangedTail), figures::confidence(confidence));
}

std::string moved_exactly_text() {
  return "All runs of each build agree to the byte, so these changes are real. Each is below "
         "[detect] exact_threshold or exact_floor; together with others they are found by the "
         "drift comparison.";
}

SortedVerdicts sorted(const std::vector<VerdictRow>& verdicts,
                      const std::vector<storage::IncidentRow>& incidents) {
  SortedVerdicts sorted;
  for (const auto& row : verdicts) part_for(sorted, row, incidents).push_back(row);
  const auto is_larger_change = [](const VerdictRow& left, const VerdictRow& right) {
    return is_larger(effect_of(left), effect_of(right));
  };
  std::ranges::copy_if(sorted.unchanged, std::back_inserter(sorted.moved_exactly),
                       [](const VerdictRow& row) { return moved_exactly(effect_of(row)); });
  std::ranges::stable_sort(sorted.regressed, is_larger_change);
  std::ranges::stable_sort(sorted.moved_exactly, is_larger_change);
  std::ranges::stable_sort(sorted.improved, [&](const auto& left, const auto& right) {
    return is_larger_change(right, left);
  });
  return sorted;
}

std::string outcome_text(const SortedVerdicts& sorted) {
  std::vector<std::string> parts;
  if (!sorted.regressed.empty()) {
    parts.push_back(series_text(sorted.regressed.size()) + " regressed");
  }
  if (!sorted.lost.empty()) parts.push_back(series_text(sorted.lost.size()) + " lost");
  const auto decided = sorted.unchanged.size() + sorted.improved.size();
  if (parts.empty() && decided == 0) return "no conclusion, no series could be decided";
  if (parts.empty()) parts.emplace_back("nothing regressed");
  if (!sorted.improved.empty()) {
    parts.push_back(series_text(sorted.improved.size()) + " improved");
  }
  if (!sorted.undecided.empty()) {
    parts.push_back(std::to_string(sorted.undecided.size()) + " could not be decided");
  }
  if (!sorted.failed.empty()) parts.push_back(std::to_string(sorted.failed.size()) + " failed");
  return fmt::format("{}", fmt::join(parts, ", "));
}

Result<std::vector<Benchmark>> newly_measured(storage::Database& database,
                                              const storage::ComparisonRow& row,
                                              const std::vector<VerdictRow>& verdicts) {
  std::vector<Benchmark> added;
  if (row.purpose != storage::Purpose::nightly || !row.baseline) return added;
  storage::ComparisonStore comparisons(database);
  TW_TRY(const auto before, comparisons.nightly_of(*row.baseline));
  if (!before) return added;
  TW_TRY(const auto earlier, storage::verdicts_of(database, before->id));
  if (earlier.empty()) return added;
  const auto measures = [](const Benchmark& benchmark) {
    return [&benchmark](const VerdictRow& verdict) {
      return verdict.series.benchmark == benchmark && verdict.candidate_value > 0;
    };
  };
  for (const auto& verdict : verdicts) {
    const auto& benchmark = verdict.series.benchmark;
    const bool has_value = std::ranges::any_of(verdicts, measures(benchmark));
    const bool is_old = std::ranges::any_of(earlier, measures(benchmark));
    const bool is_known = std::ranges::find(added, benchmark) != added.end();
    if (has_value && !is_old && !is_known) added.push_back(benchmark);
  }
  return added;
}

bool is_mlperf_network(const std::string& workload) {
  // ResNet-50, Mask R-CNN, BERT, DLRM and a recurrent translator; for the last, which the suite
  // lacks, stands its recurrent encoder and decoder with attention.
  constexpr std::array kNetworks{"resnet50", "vision_maskrcnn", "hf_Bert", "dlrm", "tacotron2"};
  return std::ranges::find(kNetworks, workload) != kNetworks.end();
}

}  // namespace torchwatch::report
