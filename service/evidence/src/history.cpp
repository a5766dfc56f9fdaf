#include <algorithm>
#include <map>

#include "drawn.hpp"
#include "torchwatch/evidence/series.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::evidence {
namespace {

using drawing::HistoryMark;
using drawing::MarkKind;
using storage::PastVerdict;
using Builds = std::map<storage::Id, storage::BuildRow>;
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
  return {.series = wanted.series,
          .purpose = purpose,
          .from = wanted.from,
          .until = wanted.until,
          .slot = first.slot(0),
          .limit = wanted.limit};
}

/// Whether there is a value to show.
bool has_point(const PastVerdict& past, bool is_ratio) {
  const auto& verdict = past.verdict;
  const bool is_measured =
      verdict.verdict != Verdict::unsupported && verdict.verdict != Verdict::failed;
  return is_measured && (!is_ratio || verdict.ratio > 0);
}

drawing::HistoryPoint point_of(const PastVerdict& past, const Builds& builds,
                               const Context& context, bool is_ratio) {
  const auto effect = report::effect_of(past.verdict);
  drawing::HistoryPoint point;
  const auto build = builds.find(past.candidate);
  if (build != builds.end()) point.build = name_of(build->second, context);
  point.time = time_text(past.at);
  point.value = is_ratio ? effect.ratio : effect.candidate_value;
  point.interval = interval_of(past.verdict);
  if (point.interval && !is_ratio) {
    point.interval->low *= effect.baseline_value;
    point.interval->high *= effect.baseline_value;
  }
  point.runs = static_cast<std::size_t>(past.verdict.runs);
  point.verdict = past.verdict.verdict;
  point.link = address_of(context.links.comparison, past.verdict.comparison);
  return point;
}

/// Marks the builds with which a version begins.
void add_versions(std::vector<HistoryMark>& marks, const std::vector<PastVerdict>& past,
                  const Builds& builds) {
  const auto release_of = [](const std::string& version) {
    return version.substr(0, std::min(version.find(".dev"), version.find('+')));
  };
  std::string before;
  for (const auto& each : past) {
    const auto build = builds.find(each.candidate);
    const auto now = build == builds.end() ? std::string() : release_of(build->second.version);
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

/// Marks where the machine changed; the build is another each time.
Status add_environments(std::vector<HistoryMark>& marks, const std::vector<PastVerdict>& past,
                        const Context& context) {
  std::vector<std::string> digests;
  for (const auto& each : past) {
    const bool is_new = digests.empty() || digests.back() != each.environment_digest;
    if (!each.environment_digest.empty() && is_new) digests.push_back(each.environment_digest);
  }
  TW_TRY(const auto all, storage::RunStore(context.database).facts_beside_build(digests));
  const Facts* before = nullptr;
  for (const auto& each : past) {
    const auto found = all.find(each.environment_digest);
    if (found == all.end()) continue;
    auto difference = before == nullptr ? "" : difference_of(*before, found->second, context);
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

Result<Builds> all_builds(const Context& context) {
  TW_TRY(auto rows, storage::BuildStore(context.database).list());
  Builds builds;
  for (auto& row : rows) builds.emplace(row.id, std::move(row));
  return builds;
}

}  // namespace

Result<drawing::History> history_of(const Context& context, const HistoryWanted& wanted) {
  TW_TRY(const auto past, storage::EvidenceReader(context.database)
                              .past_of(past_wanted(wanted, storage::Purpose::nightly)));
  TW_TRY(const auto builds, all_builds(context));
  drawing::History history{.title = to_string(wanted.series),
                           .metric = wanted.series.metric,
                           .is_ratio = wanted.is_ratio,
                           .threshold = context.threshold,
                           .confidence = context.confidence};
  for (const auto& each : past) {
    if (!has_point(each, wanted.is_ratio)) continue;
    history.points.push_back(point_of(each, builds, context, wanted.is_ratio));
    history.confidence = each.confidence.value_or(context.confidence);
    history.threshold = threshold_of(each.verdict, context);
  }
  add_versions(history.marks, past, builds);
  TW_TRY_VOID(add_environments(history.marks, past, context));
  TW_TRY_VOID(add_incidents(history.marks, wanted, context));
  TW_TRY_VOID(add_self_tests(history.marks, wanted, context));
  std::ranges::stable_sort(history.marks, {}, &HistoryMark::time);
  return history;
}

}  // namespace torchwatch::evidence
