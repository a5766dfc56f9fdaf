#pragma once

#include <catch2/catch.hpp>

#include "carried_out_day.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/verdicts.hpp"

namespace torchwatch::test {

inline const storage::StudyRow kThirdSlower{
    .name = "a third slower", .baseline = "default", .candidate = "TORCH_SCRIPTED_FACTOR=1.3"};

inline comparison::Selection times_of(const std::string& workload) {
  return {.workloads = {workload},
          .configurations = {{Device::cpu, Mode::infer}},
          .metrics = {Metric::time}};
}

/// Two nightlies that were compared, and the service that did it.
struct StudiedDay {
  explicit StudiedDay(const std::string& behaviour = "noise 0.01")
      : day(folder.path(), {{"One", behaviour}, {"Two", "# 2"}}) {
    file = carried_out(day, folder);
    service = ScriptedService::open(day.config()).value();
    build = storage::ComparisonStore(database()).list(1).value().at(0).candidate;
  }

  storage::Database& database() { return service->services().database; }

  storage::ComparisonRow carry_out(const storage::StudyRow& study,
                                   const comparison::Selection& selection) {
    auto& services = service->services();
    const auto opened = nightly::open_study(services, build, study, selection);
    if (!opened) FAIL(opened.error().text());
    const auto ended = nightly::carry_out_comparison(services, *opened, {});
    if (!ended) FAIL(ended.error().text());
    return *ended;
  }
  std::vector<storage::VerdictRow> verdicts_of(const storage::ComparisonRow& row) {
    return storage::verdicts_of(database(), row.id).value();
  }

  TemporaryFolder folder;
  ScriptedDay day;
  std::filesystem::path file;
  std::unique_ptr<ScriptedService> service;
  storage::Id build = 0;
};

}  // namespace torchwatch::test
