// A nightly dealt over the nodes of a cluster, in whose place stand lanes of this machine.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "local_lanes.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/comparison/plan.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"

using namespace torchwatch;

namespace {

using Portion = std::pair<Benchmark, Pass>;

/// A nightly with two culprits on three lanes.
struct Nightly {
  static config::Config config_of(const test::ScriptedDay& day, bool interleave,
                                  const std::vector<config::SlurmClass>& classes) {
    auto config = day.config();
    config.measure.interleave = interleave;
    config.executor.kind = config::ExecutorKind::slurm;
    config.slurm.classes = classes;
    return config;
  }
  explicit Nightly(bool interleave = true, const std::vector<config::SlurmClass>& classes = {})
      : service(test::ScriptedService::open(config_of(day, interleave, classes)).value()) {
    services.lanes = &lanes;
  }

  storage::ComparisonRow carry_out() {
    const auto due = nightly::discover_comparisons(services, {}).value();
    const auto done = nightly::carry_out_comparisons(services, due, [] { return Status{}; }, {});
    INFO((done ? "" : done.error().text()) << "\n" << logged.text);
    REQUIRE(done);
    REQUIRE(done->size() == 1);
    REQUIRE(done->front().state == storage::ComparisonState::reported);
    return done->front();
  }

  void require_culprits(const storage::ComparisonRow& comparison) const {
    const auto incidents =
        storage::IncidentStore(services.database).of_comparison(comparison.id).value();
    REQUIRE(incidents.size() == 2);
    for (const auto& incident : incidents) {
      const auto row = storage::BisectionStore(services.database).get(*incident.bisection).value();
      const auto result = bisection::parse_bisection_result(row.result_json).value();
      CHECK(result.culprit() == day.commits()[incident.kind == IncidentKind::leak ? 8U : 5U]);
    }
    CHECK(services.database.check_invariants().value().empty());
  }

  /// The nodes that measured each portion, in the order of its runs, and those of each pair.
  std::map<Portion, std::vector<std::string>> nodes(storage::Id comparison) const {
    std::map<Portion, std::vector<std::string>> nodes;
    for (const auto& run : runs(comparison)) nodes[{run.benchmark, run.pass}].push_back(run.node);
    return nodes;
  }
  std::vector<storage::RunRow> runs(storage::Id comparison) const {
    return storage::RunStore(services.database)
        .runs_of({storage::OwnerKind::comparison, comparison})
        .value();
  }
  int times_logged(const std::string& text) const {
    int times = 0;
    for (auto at = logged.text.find(text); at != std::string::npos; ++times) {
      at = logged.text.find(text, at + text.size());
    }
    return times;
  }
  bool has_logged(const std::string& text) const { return times_logged(text) > 0; }

  class Logged final : public comparison::Progress {
   public:
    void phase_started(const std::string&) override {}
    void progress(int decided, int total, const std::string& what) override {
      const auto on = what.rfind(", on n");
      if (on == std::string::npos || decided < total - 1 || !on_last) return;
      std::exchange(on_last, {})(what[on + 6] - '0');
    }
    void log(const std::string& line) override { text += line + "\n"; }
    std::string text;
    /// Called once, with the lane that measures what is left when all else is decided.
    std::function<void(int lane)> on_last;
  };

  test::TemporaryFolder folder;
  test::ScriptedDay day{folder.path(), test::day_with_two_culprits()};
  std::unique_ptr<test::ScriptedService> service;
  std::filesystem::path scratch = folder.path() / "scratch";
  std::unique_ptr<process::ProcessRunner> processes =
      process::make_process_runner("lanes of " + folder.path().string());
  test::LocalLanes lanes{*processes, scratch, 3};
  Logged logged;
  comparison::Services services{.config = service->services().config,
                                .database = service->services().database,
                                .executor = lanes.lane(0),
                                .runners = service->services().runners,
                                .channel = service->services().channel,
                                .history = service->services().history,
                                .commits = service->services().commits,
                                .clock = service->services().clock,
                                .random = service->services().random,
                                .progress = logged};
};

void require_pairs_on_one_node(const std::vector<storage::RunRow>& runs) {
  // Slots of a block end with their position: 0 and 1, 2 and 3 are pairs.
  std::map<std::string, std::string> nodes;
  for (const auto& run : runs) nodes[run.slot] = run.node;
  for (const auto& [slot, node] : nodes) {
    const int position = slot.back() - '0';
    const auto partner = slot.substr(0, slot.size() - 1) + std::to_string(position ^ 1);
    INFO(slot);
    CHECK(nodes.at(partner) == node);
  }
}

}  // namespace

TEST_CASE("a nightly on three nodes that differ names its culprits, each benchmark on one node") {
  const bool interleave = GENERATE(true, false);
  CAPTURE(interleave);
  Nightly night(interleave);
  test::LocalLanes::behave(night.scratch, 1, "time * * 1.3");
  test::LocalLanes::behave(night.scratch, 2, "time * * 0.8");
  const auto comparison = night.carry_out();
  night.require_culprits(comparison);
  CHECK(night.has_logged("the search ended: culprit " + short_sha(night.day.commits()[5])));
  std::set<std::string> used;
  for (const auto& [portion, nodes] : night.nodes(comparison.id)) {
    CHECK(std::set(nodes.begin(), nodes.end()).size() == 1);
    used.insert(nodes.front());
  }
  CHECK(used == std::set<std::string>{"n0-0", "n1-0", "n2-0"});
  CHECK(night.lanes.is_given_back(1));
  CHECK(night.lanes.is_given_back(2));
  const auto run = storage::RunReader(night.services.database).get(1).value();
  CHECK(used.contains(run.node));  // whichever lane was the first
  CHECK(run.machine_class->name == "scripted");
}

TEST_CASE("a nightly whose nodes die loses the blocks in flight alone, and names its culprits") {
  const bool interleave = GENERATE(true, false);
  CAPTURE(interleave);
  Nightly night(interleave);
  // The first lane has its six orders before the others have one, so each of these deaths comes,
  // and no block is lost in all three, which would be too often.
  constexpr int kOrders = 6;
  for (const int other : {1, 2}) night.lanes.be_later(other, kOrders);
  night.lanes.die(0, {0, kOrders - 1});
  night.lanes.die(2, {0});
  night.lanes.come_to_an_end(2);
  const auto comparison = night.carry_out();
  night.require_culprits(comparison);
  const auto runs = night.runs(comparison.id);
  require_pairs_on_one_node(runs);
  std::set<std::string> slots;
  for (const auto& run : runs) {
    CHECK(run.status == RunStatus::ok);
    CHECK(slots.insert(run.slot).second);
  }
  const auto lost = storage::RunReader(night.services.database)
                        .list({storage::OwnerKind::comparison, comparison.id},
                              {.state = "abandoned"}, 100, INT64_MAX)
                        .value();
  // The two later deaths may come in the same block, one after the other.
  std::map<std::string, int> runs_lost;  // by block
  for (const auto& run : lost) ++runs_lost[run.slot.substr(0, run.slot.rfind('/'))];
  for (const auto& [block, count] : runs_lost) {
    CAPTURE(block);
    CHECK(count % (block.starts_with("memory/") ? 2 : 4) == 0);  // memory begins with a pair
  }
  const int deaths = night.times_logged("is measured again: lost on its node");
  CHECK(deaths == 3);
  CHECK(static_cast<int>(lost.size()) >= 2 * deaths);
  CHECK(static_cast<int>(lost.size()) <= 4 * deaths);
  CHECK(night.has_logged("lane 2 is given up: no node of the cluster"));
}

TEST_CASE("what the last node loses is measured by the lane that has a node left") {
  Nightly night;
  int lost = -1;
  night.logged.on_last = [&](int lane) {
    lost = lane;
    if (lane != 0) night.lanes.come_to_an_end(lane);
    night.lanes.die_next(lane);
  };
  const auto comparison = night.carry_out();
  CAPTURE(lost);
  CHECK(lost >= 0);
  night.require_culprits(comparison);
  CHECK(night.has_logged("is measured again: lost on its node"));
}

TEST_CASE("a node of another machine class measures nothing of a comparison, and the log says so") {
  Nightly night;
  test::LocalLanes::behave(night.scratch, 1, "fact cpu_model other");
  night.lanes.be_later(1);
  const auto comparison = night.carry_out();
  night.require_culprits(comparison);
  for (const auto& run : night.runs(comparison.id)) CHECK_FALSE(run.node.starts_with("n1"));
  CHECK(night.has_logged(
      "node n1-0 is of another machine class than this comparison: cpu_model: scripted -> other"));
}

TEST_CASE("a nightly that is stopped on three nodes is continued, and repeats no run") {
  Nightly night;
  const auto due = nightly::discover_comparisons(night.services, {}).value();
  std::stop_source stop;
  signals::LastRun last(stop);
  auto services = night.services;
  services.last_run = &last;
  struct AfterSome final : comparison::Progress {
    void phase_started(const std::string&) override {}
    void progress(int, int, const std::string& what) override {
      if (what.find(", on n") != std::string::npos && ++blocks == 6) last->end_after_it();
    }
    void log(const std::string&) override {}
    signals::LastRun* last = nullptr;
    int blocks = 0;
  } progress;
  progress.last = &last;
  comparison::Services stopped{.config = services.config,
                               .database = services.database,
                               .executor = services.executor,
                               .runners = services.runners,
                               .channel = services.channel,
                               .history = services.history,
                               .commits = services.commits,
                               .clock = services.clock,
                               .random = services.random,
                               .progress = progress,
                               .last_run = &last,
                               .lanes = services.lanes};
  const auto ended =
      nightly::carry_out_comparisons(stopped, due, [] { return Status{}; }, stop.get_token());
  CHECK(stop.stop_requested());
  const auto before = night.runs(due.front().id);
  CHECK_FALSE(before.empty());
  const auto comparison = night.carry_out();
  night.require_culprits(comparison);
  std::set<std::string> slots;
  for (const auto& run : night.runs(comparison.id)) CHECK(slots.insert(run.slot).second);
  for (const auto& run : before) CHECK(slots.contains(run.slot));
}

namespace {

const Configuration kTrain{Device::cpu, Mode::train};
const Configuration kInfer{Device::cpu, Mode::infer};

/// A nightly whose training is measured by the first lane and its inference by the other two, on
/// machines of another kind.
struct NightlyOfTwoClasses : Nightly {
  NightlyOfTwoClasses()
      : Nightly(true, {{.name = "a", .configurations = {kTrain}},
                       {.name = "b", .configurations = {kInfer}}}) {
    lanes.be_of_class(0, "a");
    for (const int lane : {1, 2}) {
      lanes.be_of_class(lane, "b");
      test::LocalLanes::behave(scratch, lane, "fact cpu_model other");
    }
  }
};

}  // namespace

TEST_CASE("benchmarks of two classes stay on their lanes, and unlike machines refuse nothing") {
  NightlyOfTwoClasses night;
  night.lanes.die(0, {1});
  night.lanes.die(1, {0});
  const auto comparison = night.carry_out();
  night.require_culprits(comparison);
  std::set<std::string> of_infer;
  for (const auto& run : night.runs(comparison.id)) {
    const bool is_of_first = run.node.starts_with("n0-");
    CHECK(is_of_first == (run.benchmark.configuration == kTrain));
    if (!is_of_first) of_infer.insert(run.node.substr(0, 2));
  }
  CHECK(of_infer == std::set<std::string>{"n1", "n2"});
  CHECK_FALSE(night.has_logged("of another machine class"));
  // The first lane of each class is for what follows.
  CHECK_FALSE(night.lanes.is_given_back(0));
  CHECK_FALSE(night.lanes.is_given_back(1));
  CHECK(night.lanes.is_given_back(2));
}

TEST_CASE("a class that gets no node keeps no other one from its own part, and is waited for") {
  NightlyOfTwoClasses night;
  for (const int lane : {1, 2}) {
    night.lanes.die(lane, {0});
    night.lanes.come_to_an_end(lane);
  }
  const auto due = nightly::discover_comparisons(night.services, {}).value();
  const auto done =
      nightly::carry_out_comparisons(night.services, due, [] { return Status{}; }, {});
  INFO(night.logged.text);
  const auto row = storage::ComparisonStore(night.services.database).get(due.front().id).value();
  CHECK(row.state == storage::ComparisonState::ready);
  CHECK(night.has_logged("lane 1 of class b is given up: no node of the cluster"));
  CHECK(night.has_logged("lane 2 of class b is given up: no node of the cluster"));
  std::map<Portion, int> pairs;
  for (const auto& run : night.runs(row.id)) ++pairs[{run.benchmark, run.pass}];
  for (const auto& [portion, count] : pairs) CHECK(portion.first.configuration == kTrain);
  CHECK(pairs.size() == 4);  // two workloads in two passes
}

TEST_CASE("what no class measures any more is an error, not a comparison without end") {
  NightlyOfTwoClasses night;
  for (const int lane : {1, 2}) {
    night.lanes.die(lane, {0});
    night.lanes.come_to_an_end(lane);
  }
  const auto carry_out = [](comparison::Services& services) {
    const auto due = nightly::discover_comparisons(services, {}).value();
    REQUIRE(due.size() == 1);
    std::ignore = nightly::carry_out_comparisons(services, due, [] { return Status{}; }, {});
    return storage::ComparisonStore(services.database).get(due.front().id).value();
  };
  REQUIRE(carry_out(night.services).state == storage::ComparisonState::ready);
  auto config = night.services.config;
  config.slurm.classes.pop_back();
  comparison::Services fewer{.config = config,
                             .database = night.services.database,
                             .executor = night.services.executor,
                             .runners = night.services.runners,
                             .channel = night.services.channel,
                             .history = night.services.history,
                             .commits = night.services.commits,
                             .clock = night.services.clock,
                             .random = night.services.random,
                             .progress = night.logged,
                             .lanes = &night.lanes};
  const auto what = "cpu-infer is in no [[slurm.class]], so no node measures it";
  const auto plan = comparison::plan_of_config(fewer);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == ErrorCode::invalid);
  CHECK(plan.error().message == what);
  const auto row = carry_out(fewer);
  INFO(night.logged.text);
  CHECK(row.state == storage::ComparisonState::refused);
  CHECK(row.reason.find(what) != std::string::npos);
}
