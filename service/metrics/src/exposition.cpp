#include "torchwatch/metrics/exposition.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <string>
#include <vector>

#include "torchwatch/outbox/alarm_store.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/runs/node_time.hpp"
#include "torchwatch/storage/counts.hpp"

namespace torchwatch::metrics {
namespace {

constexpr double kMsPerSecond = 1'000;

using Counts = storage::OpenCounts::ByState;

void add(prometheus::Registry& registry, const char* name, const char* help, const char* label,
         const Counts& counts) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  for (const auto& [value, count] : counts) {
    family.Add({{label, value}}).Set(static_cast<double>(count));
  }
}

void add(prometheus::Registry& registry, const char* name, const char* help, double value) {
  prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({}).Set(value);
}

/// A state that is waited for is shown although nothing has it.
Counts with_zeros(Counts counts, const std::vector<std::string>& states) {
  for (const auto& state : states) counts.emplace(state, 0);
  return counts;
}

Status add_alarms(prometheus::Registry& registry, storage::Database& database) {
  using storage::AlarmCause;
  Counts counts;
  for (const auto cause : {AlarmCause::no_nightly, AlarmCause::no_verdict, AlarmCause::no_delivery,
                           AlarmCause::no_self_test, AlarmCause::missed_drill}) {
    counts[std::string(to_string(cause))] = 0;
  }
  TW_TRY(const auto open, storage::AlarmStore(database).open());
  for (const auto& alarm : open) ++counts[std::string(to_string(alarm.cause))];
  add(registry, "torchwatch_alarms", "1 while an alarm is open for that cause", "cause", counts);
  return {};
}

Status add_nodes(prometheus::Registry& registry, storage::Database& database) {
  TW_TRY(const auto nodes, storage::node_seconds(database));
  auto& family = prometheus::BuildCounter()
                     .Name("torchwatch_node_seconds_total")
                     .Help("How long the nodes of the cluster measured")
                     .Register(registry);
  for (const auto& [node, seconds] : nodes) family.Add({{"node", node}}).Increment(seconds);
  return {};
}

Status add_open(prometheus::Registry& registry, storage::Database& database) {
  TW_TRY(const auto open, storage::open_counts(database));
  add(registry, "torchwatch_comparisons_unfinished", "Comparisons that have not ended", "state",
      with_zeros(open.comparisons, {"discovered", "ready", "measured", "judged", "bisected"}));
  // So that a monitor notices when data stops.
  add(registry, "torchwatch_last_nightly_ended_seconds",
      "When the comparison of the newest nightly ended, in seconds since 1970; 0: never",
      static_cast<double>(open.last_nightly_ended_at.value_or(0)) / kMsPerSecond);
  add(registry, "torchwatch_incidents", "Incidents that are not closed", "state",
      with_zeros(open.incidents, {"open", "acknowledged"}));
  add(registry, "torchwatch_outbox_messages", "Messages that have not been delivered", "state",
      with_zeros(open.messages, {"pending", "sending", "dead"}));
  add(registry, "torchwatch_requests", "Requests for work that have not ended", "state",
      with_zeros(open.requests, {"pending", "running"}));
  return {};
}

void add_service(prometheus::Registry& registry, const health::Report& now) {
  Counts counts;
  const auto& problems = now.problems;
  for (const auto& problem : problems) ++counts[problem.source];
  add(registry, "torchwatch_healthy", "1 while everything works, as /healthz says; else 0",
      problems.empty() ? 1 : 0);
  add(registry, "torchwatch_problems", "What does not work at present, by source", "source",
      with_zeros(std::move(counts), health::sources()));
  add(registry, "torchwatch_build_info", "1; the label names the version of torchwatch", "version",
      Counts{{std::string(report::program_version()), 1}});
  if (now.free_cache_bytes) {
    add(registry, "torchwatch_cache_disk_free_bytes", "Free bytes on the disk of [build] cache",
        static_cast<double>(*now.free_cache_bytes));
  }
}

}  // namespace

Result<std::string> exposition(storage::Database& database, const health::Report& now) {
  prometheus::Registry registry;
  add_service(registry, now);
  TW_TRY_VOID(add_alarms(registry, database));
  TW_TRY_VOID(add_open(registry, database));
  TW_TRY_VOID(add_nodes(registry, database));
  return prometheus::TextSerializer().Serialize(registry.Collect());
}

}  // namespace torchwatch::metrics
