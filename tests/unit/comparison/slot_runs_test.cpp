#include "torchwatch/comparison/slot_runs.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using comparison::SlotRuns;

namespace {

comparison::MachineRun run_of(const std::string& slot, RunStatus status) {
  storage::RunRow row;
  row.slot = slot;
  row.benchmark = {"dlrm", {Device::cpu, Mode::train}, {}};
  row.status = status;
  return {row, "cpu: x\n"};
}

}  // namespace

TEST_CASE("a slot is closed by a run that measured, or by the second one that failed") {
  SlotRuns runs;
  CHECK_FALSE(runs.is_begun("a"));
  CHECK_FALSE(runs.is_closed("a"));
  CHECK(runs.find("a") == nullptr);
  CHECK_FALSE(runs.is_begun("a"));  // to ask begins nothing
  runs.add(run_of("a", RunStatus::failed));
  CHECK(runs.is_begun("a"));
  CHECK_FALSE(runs.is_closed("a"));
  runs.add(run_of("a", RunStatus::failed));
  CHECK(runs.is_closed("a"));
  runs.add(run_of("b", RunStatus::ok));
  CHECK(runs.is_closed("b"));
  CHECK(runs.find("b")->machine == "cpu: x\n");
}

TEST_CASE("a pair is tried once, in two slots of which none has begun") {
  SlotRuns runs;
  const auto benchmark = run_of("", RunStatus::ok).row.benchmark;
  CHECK(runs.may_pair("a", "b", benchmark));
  runs.add(run_of("b", RunStatus::failed));
  CHECK_FALSE(runs.may_pair("a", "b", benchmark));
  CHECK_FALSE(runs.may_pair("b", "a", benchmark));
}

TEST_CASE("pairs are in vain once the runs of two failed pairs measured apart") {
  SlotRuns runs;
  const auto benchmark = run_of("", RunStatus::ok).row.benchmark;
  for (const auto* slot : {"1a", "1b", "2a", "2b"}) {
    CHECK_FALSE(runs.pairs_are_in_vain(benchmark));
    runs.add(run_of(slot, RunStatus::failed));
    runs.add(run_of(slot, RunStatus::ok));
  }
  CHECK(runs.pairs_are_in_vain(benchmark));
  CHECK_FALSE(runs.may_pair("3a", "3b", benchmark));
  CHECK_FALSE(runs.pairs_are_in_vain({"resnet18", {Device::cpu, Mode::train}, {}}));
}
