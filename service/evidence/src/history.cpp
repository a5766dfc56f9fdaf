#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "drawn.hpp"
#include "torchwatch/evidence/series.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::evidence {
namespace {

using drawing::HistoryMark;
using drawing::MarkKind;
using storage::PastVerdict;
using Facts = std::map<std::string, std::string>;

std::string time_text(storage::WallMillis at) {
  const auto time = report::time_of(at);
  return time.is_string() ? time.get<std::string>() : std::string();
}

storage::PastWanted past_wanted(const HistoryWanted& wanted, storage::Purpose purpose) {
  const comparison::Block first{.benchmark = wanted.series.benchmark,
                                .pass = pass_of(wanted.series.metric),
                                .stage = comparison::Stage::screen,
                                .index = 0};
  auto other = first;  // a comparison begins with either; these are runs of the baseline
  other.index = 1;
  return {.series = wanted.series,
          .purpose = purpose,
          .from = wanted.from,
          .until = wanted.until,
          .slots = {first.slot(0), other.slot(1)},
          .limit = wanted.limit};
}

/// Whether there is a value to show.
bool has_point(const PastVerdict& past, bool is_ratio) {
  const auto& verdict = past.verdict;
  const bool is_measured =
      verdict.verdict != Verdict::unsupported && verdict.verdict != Verdict::failed;
  return is_measured && (!is_ratio || verdict.ratio > 0);
}

/// A verdict that has a value.
struct Measured {
  const PastVerdict* past = nullptr;
  double value = 0;  ///< a ratio, or in the metric's unit
};

std::vector<Measured> measured_of(const std::vector<PastVerdict>& all, bool is_ratio) {
  std::vector<Measured> measured;
  for (const auto& past : all) {
    if (!has_point(past, is_ratio)) continue;
    const auto effect = report::effect_of(past.verdict);
    measured.push_back({&past, is_ratio ? effect.ratio : effect.candidate_value});
  }
  return measured;
}

bool is_change(const Measured& measured) {
  const auto verdict = measured.past->verdict.verdict;
  return verdict == Verdict::regressed || verdict == Verdict::improved;
}

/// Those that are drawn, in their order. What is left out lies between two that are kept.
std::vector<Measured> kept_of(const std::vector<Measured>& all, std::size_t most) {
  if (all.size() <= most) return all;
  const auto stretches = std::max<std::size_t>(most / 2, 1);
  std::vector<Measured> kept;
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * all.size() / stretches);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>((i + 1) * all.size() / stretches);
    const auto [least, greatest] = std::ranges::minmax_element(begin, end, {}, &Measured::value);
    for (auto each = begin; each != end; ++each) {
      const bool is_end = each == all.begin() || each == all.end() - 1;
      const bool is_extreme = each == least || each == greatest;
      if (is_end || is_extreme || is_change(*each)) kept.push_back(*each);
    }
  }
  return kept;
}

drawing::HistoryPoint point_of(const Measured& measured, const Context& context, bool is_ratio) {
  const auto& past = *measured.past;
  drawing::HistoryPoint point;
  point.build = name_of(past.candidate, context);
  point.time = time_text(past.at);
  point.value = measured.value;
  point.interval = interval_of(past.verdict);
  if (point.interval && !is_ratio) {
    point.interval->low *= past.verdict.baseline_value;
    point.interval->high *= past.verdict.baseline_value;
  }
  point.runs = static_cast<std::size_t>(past.verdict.runs);
  point.verdict = past.verdict.verdict;
  point.link = address_of(context.links.comparison, past.verdict.comparison);
  return point;
}

/// Marks the builds with which a version begins.
void add_versions(std::vector<HistoryMark>& marks, const std::vector<PastVerdict>& past) {
  const auto release_of = [](const std::string& version) {
    return version.substr(0, std::min(version.find(".dev"), version.find('+')));
  };
  std::string before;
  for (const auto& each : past) {
    const auto now = release_of(each.candidate.version);
    if (now.empty()) continue;
    if (!before.empty() && now != before) {
      marks.push_back({.kind = MarkKind::build,
                       .time = time_text(each.at),
                       .label = "version " + before + " to " + now});
    }
    before = now;
  }
}

/// "kernel 6.1 to 6.8". A path of this machine is not for strangers: "libgomp changed".
std::string change_of(std::string fact, const std::string& before, const std::string& after,
                      const Context& context) {
  std::ranges::replace(fact, '_', ' ');
  const bool has_path =
      before.find('/') != std::string::npos || after.find('/') != std::string::npos;
  if (has_path && !context.is_trusted) return fact + " changed";
  return fact + " " + (before.empty() ? "none" : before) + " to " +
         (after.empty() ? "none" : after);
}

/// "gpu driver 550.54 to 555.42, kernel 6.1 to 6.8": the facts that differ.
std::string difference_of(const Facts& before, const Facts& after, const Context& context) {
  auto all = before;
  all.insert(after.begin(), after.end());
  const auto value_in = [](const Facts& facts, const std::string& name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string() : found->second;
  };
  std::string text;
  for (const auto& [name, value] : all) {
    const auto old = value_in(before, name);
    const auto now = value_in(after, name);
    if (old == now) continue;
    text += (text.empty() ? "" : ", ") + change_of(name, old, now, context);
  }
  return text;
}

/// Facts as they are stored; none where the text is damaged.
Facts facts_in(const std::string& json) {
  const auto object = nlohmann::json::parse(json, nullptr, false);
  return object.is_object() ? object.get<Facts>() : Facts();
}

/// Marks where the machine changed; the build is another each time.
Status add_environments(std::vector<HistoryMark>& marks, const std::vector<PastVerdict>& past,
                        const Context& context) {
  std::vector<std::string> digests;
  for (const auto& each : past) {
    const bool is_new = digests.empty() || digests.back() != each.environment_digest;
    if (!each.environment_digest.empty() && is_new) digests.push_back(each.environment_digest);
  }
  TW_TRY(const auto all, storage::EvidenceReader(context.database).facts_beside_build(digests));
  const std::string* before = nullptr;
  for (const auto& each : past) {
    const auto found = all.find(each.environment_digest);
    if (found == all.end()) continue;
    const bool is_equal = before == nullptr || *before == found->second;
    auto difference =
        is_equal ? "" : difference_of(facts_in(*before), facts_in(found->second), context);
    if (!difference.empty()) {
      marks.push_back({.kind = MarkKind::environment,
                       .time = time_text(each.at),
                       .label = std::move(difference),
                       .link = address_of(context.links.comparison, each.verdict.comparison)});
    }
    before = &found->second;
  }
  return {};
}

Status add_incidents(std::vector<HistoryMark>& marks, const HistoryWanted& wanted,
                     const Context& context) {
  TW_TRY(const auto incidents, storage::IncidentStore(context.database).of_series(wanted.series));
  for (const auto& incident : incidents) {
    if (incident.opened_at < wanted.from || incident.opened_at >= wanted.until) continue;
    auto label = "incident " + std::to_string(incident.id);
    if (!incident.title.empty()) label += ": " + incident.title;
    marks.push_back({.kind = MarkKind::incident,
                     .time = time_text(incident.opened_at),
                     .label = std::move(label),
                     .link = address_of(context.links.incident, incident.id)});
  }
  return {};
}

Status add_self_tests(std::vector<HistoryMark>& marks, const HistoryWanted& wanted,
                      const Context& context) {
  TW_TRY(const auto tests, storage::EvidenceReader(context.database)
                               .past_of(past_wanted(wanted, storage::Purpose::self_test)));
  for (const auto& test : tests) {
    marks.push_back({.kind = MarkKind::self_test,
                     .time = time_text(test.at),
                     .label = "self-test: " + std::string(to_string(test.verdict.verdict)),
                     .link = address_of(context.links.comparison, test.verdict.comparison)});
  }
  return {};
}

}  // namespace

Result<std::optional<drawing::DriftReference>> drift_reference_of(const Context& context,
                                                                  const Series& series) {
  constexpr int kSearched = 50;
  const auto wanted = past_wanted({.series = series, .limit = kSearched}, storage::Purpose::drift);
  TW_TRY(const auto past, storage::EvidenceReader(context.database).past_of(wanted));
  const auto newest = std::ranges::find_if(past.rbegin(), past.rend(), [](const auto& each) {
    return has_point(each, true) && each.verdict.baseline_value > 0;
  });
  if (newest == past.rend()) return std::nullopt;
  const auto comparison = newest->verdict.comparison;
  TW_TRY(const auto row, storage::ComparisonStore(context.database).get(comparison));
  if (!row.baseline) return std::nullopt;
  TW_TRY(const auto build, storage::BuildStore(context.database).get(*row.baseline));
  return drawing::DriftReference{.build = name_of(build, context),
                                 .time = time_text(newest->at),
                                 .value = report::effect_of(newest->verdict).baseline_value,
                                 .link = address_of(context.links.comparison, comparison)};
}

Result<drawing::History> history_of(const Context& context, const HistoryWanted& wanted) {
  TW_TRY(const auto past, storage::EvidenceReader(context.database)
                              .past_of(past_wanted(wanted, storage::Purpose::nightly)));
  drawing::History history{.title = to_string(wanted.series),
                           .metric = wanted.series.metric,
                           .is_ratio = wanted.is_ratio,
                           .is_logarithmic = wanted.is_logarithmic,
                           .threshold = context.threshold,
                           .confidence = context.confidence};
  const auto measured = measured_of(past, wanted.is_ratio);
  const auto kept = kept_of(measured, wanted.most);
  for (const auto& each : kept) {
    history.points.push_back(point_of(each, context, wanted.is_ratio));
    history.confidence = each.past->confidence.value_or(context.confidence);
    history.threshold = threshold_of(each.past->verdict, context);
  }
  history.left_out = measured.size() - kept.size();
  if (!wanted.is_ratio) {
    TW_TRY(history.drift, drift_reference_of(context, wanted.series));
  }
  add_versions(history.marks, past);
  TW_TRY_VOID(add_environments(history.marks, past, context));
  TW_TRY_VOID(add_incidents(history.marks, wanted, context));
  TW_TRY_VOID(add_self_tests(history.marks, wanted, context));
  std::ranges::stable_sort(history.marks, {}, &HistoryMark::time);
  return history;
}

}  // namespace torchwatch::evidence
