// follow_index FOLDER PYTHON PROGRAM INDEX: a service with a scripted runner that follows a package
// index. Each line of standard input is a number of hours that pass; then it does what the daemon
// does until nothing is left to do, and prints one line of JSON: the nightlies it knows and their
// comparisons. FOLDER holds pytorch.git, whose commits the nightlies name.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "fake_clock.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/process/process.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

namespace {

using namespace torchwatch;
using nlohmann::json;

Status round(comparison::Services& services, std::string& listing) {
  const auto found = nightly::discover_comparisons(services, {}, nightly::Retry::when_due);
  listing = found ? "" : found.error().message;
  nightly::WorkList list(services, nightly::Retry::when_due);
  while (true) {
    TW_TRY(const auto done, list.carry_out_next(nightly::Scope::nightlies, {}));
    if (!done) return {};
  }
}

json comparison_json(storage::Database& database, const storage::ComparisonRow& row) {
  storage::BuildStore builds(database);
  const auto verdicts = storage::ComparisonStore(database).verdicts_of(row.id).value();
  return {{"candidate", row.candidate},
          {"baseline", row.baseline ? json(*row.baseline) : json()},
          {"state", to_string(row.state)},
          {"reason", row.reason},
          {"verdicts", verdicts.size()}};
}

json state_of(storage::Database& database) {
  auto builds = json::array();
  const auto known = storage::BuildStore(database).list().value();
  for (const auto& row : known) {
    if (row.origin != storage::BuildOrigin::nightly) continue;
    builds.push_back({{"id", row.id},
                      {"name", row.name},
                      {"state", to_string(row.state)},
                      {"trunk_commit", row.trunk_commit},
                      {"reason", row.reason}});
  }
  auto comparisons = json::array();
  const auto opened = storage::ComparisonStore(database).list(1000).value();
  for (const auto& row : opened) {
    if (row.purpose == storage::Purpose::nightly) {
      comparisons.push_back(comparison_json(database, row));
    }
  }
  return {{"builds", builds}, {"comparisons", comparisons}};
}

Status follow(const config::Config& config, channel::WheelIndexSettings settings) {
  TW_TRY(const auto service, test::ScriptedService::open(config));
  const auto processes = process::make_process_runner("follow-index-" + config.folder.string());
  const auto index = channel::make_wheel_index_channel(std::move(settings), *processes);
  test::FakeClock clock;
  auto& own = service->services();
  comparison::Services services{config,      own.database, own.executor, own.runners, *index,
                                own.history, own.commits,  clock,        own.random,  own.progress};
  for (int hours = 0; std::cin >> hours;) {
    clock.advance(std::chrono::hours(hours));
    std::string listing;
    TW_TRY_VOID(round(services, listing));
    auto state = state_of(services.database);
    state["listing"] = listing;
    std::cout << state.dump() << std::endl;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const std::filesystem::path folder = argv[1];
  auto config = test::scripted_config(folder);
  config.channel.kind = config::ChannelKind::wheel_index;
  config.suite.workloads = {"dlrm"};
  config.suite.configurations = {{Device::cpu, Mode::infer}};
  const channel::WheelIndexSettings settings{.program = argv[3],
                                             .cache = folder / "state/builds/releases",
                                             .index = argv[4],
                                             .flavour = "cpu",
                                             .python = argv[2]};
  const auto followed = follow(config, settings);
  if (followed) return 0;
  std::fprintf(stderr, "%s\n", followed.error().message.c_str());
  return 3;
}
