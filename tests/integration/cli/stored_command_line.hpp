#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "printed.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/bisection/spec.hpp"
#include "torchwatch/cli/command_line.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/outbox/outbox_store.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/storage/request_store.hpp"
#include "torchwatch/storage/setback_store.hpp"

namespace torchwatch::test {

using namespace storage;

inline constexpr WallMillis kNow = 1'786'935'845'000;  // 2026-08-17T03:04:05Z

inline Id ready_build(Database& database, const std::string& name,
                      BuildOrigin origin = BuildOrigin::nightly) {
  BuildStore builds(database);
  auto row = builds.discover(origin, name).value();
  row.version = "2.14.0";
  row.content_hash = "hash of " + name;
  row.folder = "/builds/" + name;
  return builds.mark_ready(row).value().id;
}

/// The command line in this process, on a database in a folder of its own.
struct CommandLine {
  CommandLine()
      : file(folder.write("torchwatch.toml",
                          "[storage]\npath = \"db.sqlite\"\n[executor]\nmachine_lock = "
                          "\"torchwatch-test-" +
                              std::to_string(getpid()) + "\"\n")) {}

  Printed run(std::vector<std::string> arguments) const {
    return run_command(std::move(arguments), file);
  }

  /// A nightly that found one regression.
  void store_incident() const {
    const auto database = Database::open({folder.path() / "db.sqlite", "", false}).value();
    const auto baseline = ready_build(*database, "2.14.0.dev20260816");
    const auto candidate = ready_build(*database, "2.14.0.dev20260817");
    const auto comparison =
        ComparisonStore(*database).open({Purpose::nightly, candidate, baseline}, kNow).value();
    IncidentRow row;
    row.comparison = comparison.id;
    row.key = "time-cpu:abc";
    row.title = "resnet18 cpu-train time +15.0 %";
    row.opened_at = kNow;
    const auto incident = IncidentStore(*database).open(row).value();
    OutboxRow message;
    message.key = "open:abc";
    message.incident = incident.id;
    message.title = row.title;
    message.body = "It is slower.";
    REQUIRE(OutboxStore(*database).queue(message));
  }

  std::unique_ptr<Database> open() const {
    return Database::open({folder.path() / "db.sqlite", "", false}).value();
  }

  /// The incident of `store_incident`, reported, with a bisection that named a commit.
  void store_culprit() const {
    store_incident();
    const auto database = open();
    ComparisonStore comparisons(*database);
    REQUIRE(comparisons.advance(comparisons.get(1).value(), ComparisonState::reported, kNow));
    bisection::BisectionSpec spec;
    spec.good = "61e9d2b9652d";
    spec.bad = "09143755fce1";
    spec.series = {{.series = kSeries}};
    BisectionRow row;
    row.incident = 1;
    row.good = spec.good;
    row.bad = spec.bad;
    row.spec_json = to_json(spec);
    row.created_at = kNow;
    BisectionStore bisections(*database);
    const auto opened = bisections.open(row).value();
    bisection::BisectionResult result;
    result.culprits.emplace_back().commits = {"bed9e5a977bb93dcaf61"};
    REQUIRE(bisections.end(opened, to_json(result), kNow));
    REQUIRE(IncidentStore(*database).attach_bisection(1, opened.id));
  }

  /// Two runs of `kSeries`.
  void store_runs() const {
    store_incident();
    const auto database = open();
    RunStore runs(*database);
    for (const std::string token : {"t1", "t2"}) {
      REQUIRE(runs.issue({.owner = {OwnerKind::comparison, 1},
                          .slot = token,
                          .build = 1,
                          .benchmark = kSeries.benchmark},
                         token, kNow));
      RunResult result;
      result.attempt = token;
      result.samples_ns = {2'000'000, 2'100'000, 2'300'000};
      result.values = {{Metric::time, 2'100'000}};
      REQUIRE(runs.record({{token, result}}, kNow));
    }
  }

  static inline const Series kSeries{{"resnet18", {Device::cpu, Mode::train}, {}}, Metric::time};
  TemporaryFolder folder;
  std::filesystem::path file;
};

}  // namespace torchwatch::test
