// A whole nightly on the nodes of a real cluster.
#include <algorithm>
#include <atomic>
#include <future>
#include <set>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/nightly/discovery.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/runs/run_store.hpp"
#include "torchwatch/storage/bisection_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "trial_result.hpp"

using namespace torchwatch;

namespace {

/// Whether a run has its folder there.
bool is_at_work(const test::fs::path& scratch_of_node) {
  std::error_code none;
  const test::fs::directory_iterator entries(scratch_of_node, none);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().filename().string().starts_with("attempt-");
  });
}

/// Does something once, while an order is under way on a node.
class WhileAtWork final : public comparison::Progress {
 public:
  explicit WhileAtWork(test::fs::path scratch) : scratch_(std::move(scratch)) {}

  void phase_started(const std::string&) override {}
  void progress(int, int, const std::string& what) override {
    const auto on = what.rfind(", on ");
    if (on == std::string::npos || !act || ++blocks_ <= blocks_before) return;
    if (is_done_.exchange(true)) return;
    doing_ = std::async(std::launch::async, [this, node = what.substr(on + 5)] {
      test::comes_true([&] { return is_at_work(scratch_ / node); });
      act(node);
    });
  }
  void log(const std::string& line) override {
    const std::scoped_lock lock(mutex_);
    text_ += line + "\n";
  }
  std::string logged() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }
  void wait() {
    if (doing_.valid()) doing_.get();
  }

  std::function<void(const std::string& node)> act;
  int blocks_before = 0;  ///< that have begun, when it does it

 private:
  test::fs::path scratch_;
  std::atomic<int> blocks_ = 0;
  std::atomic<bool> is_done_ = false;
  std::future<void> doing_;
  mutable std::mutex mutex_;
  std::string text_;
};

/// A day of commits with two culprits, whose nightly is measured on three nodes.
struct Nightly {
  explicit Nightly(std::vector<config::SlurmClass> of = {}) : classes(std::move(of)) {
    trial.write("scratch/n2/behaviour", "time * * 1.3\n");
    for (const auto& folder : {trial.folder / "scratch", trial.folder / "scratch/n2"}) {
      test::fs::permissions(folder, test::fs::perms::owner_all);
    }
  }

  /// A lane's name ends with its number, and an order's limits must fit an allocation.
  static cluster::SlurmExecutor::Settings settings_of(const test::Trial& trial) {
    auto settings = trial.settings();
    settings.name += "-0";
    settings.time = std::chrono::hours(2);
    return settings;
  }

  /// Three lanes of any nodes, or those of each class.
  static std::vector<cluster::LaneClass> lanes_of(const test::Trial& trial,
                                                  const std::vector<config::SlurmClass>& classes) {
    if (classes.empty()) return {{.settings = settings_of(trial), .count = 3}};
    std::vector<cluster::LaneClass> lanes;
    for (const auto& of : classes) {
      auto settings = settings_of(trial);
      settings.name = trial.name + "-" + of.name + ".0";
      settings.options.push_back("--constraint=" + of.constraint);
      if (!of.gres.empty()) settings.options.push_back("--gres=" + of.gres);
      lanes.push_back({of.name, of.configurations, settings, of.lanes});
    }
    return lanes;
  }

  config::Config config() const {
    auto config = day.config();
    config.executor.kind = config::ExecutorKind::slurm;
    config.slurm.classes = classes;
    return config;
  }

  storage::Id carry_out() {
    const auto due = nightly::discover_comparisons(services, {}).value();
    const auto done = nightly::carry_out_comparisons(services, due, [] { return Status{}; }, {});
    INFO((done ? "" : done.error().text()) << "\n" << trial.logged() << progress.logged());
    REQUIRE(done);
    REQUIRE(done->size() == 1);
    return done->front().id;
  }

  void require_culprits(storage::Id comparison) const {
    const auto incidents =
        storage::IncidentStore(services.database).of_comparison(comparison).value();
    REQUIRE(incidents.size() == 2);
    for (const auto& incident : incidents) {
      const auto row = storage::BisectionStore(services.database).get(*incident.bisection).value();
      const auto result = bisection::parse_bisection_result(row.result_json).value();
      CHECK(result.culprit() == day.commits()[incident.kind == IncidentKind::leak ? 8U : 5U]);
    }
    CHECK(services.database.check_invariants().value().empty());
  }

  /// What runs there says that the node is of another machine class.
  void give_another_processor(const std::string& node) const {
    const auto folder = "scratch/" + node;
    trial.write(folder + "/behaviour", "fact cpu_model other\n");
    test::fs::permissions(trial.folder / folder, test::fs::perms::owner_all);
  }

  /// The nodes of each benchmark in each pass.
  std::map<std::pair<Benchmark, Pass>, std::set<std::string>> nodes(storage::Id comparison) const {
    std::map<std::pair<Benchmark, Pass>, std::set<std::string>> nodes;
    const storage::Owner owner{storage::OwnerKind::comparison, comparison};
    const auto runs = storage::RunStore(services.database).runs_of(owner).value();
    for (const auto& run : runs) {
      nodes[{run.benchmark, run.pass}].insert(run.node);
    }
    return nodes;
  }

  std::vector<config::SlurmClass> classes;
  test::TrialOfTest trial;
  test::ScriptedDay day{trial.folder, test::day_with_two_culprits()};
  std::unique_ptr<test::ScriptedService> service = test::ScriptedService::open(config()).value();
  cluster::SlurmLanes lanes{trial.processes(), trial.clock(), lanes_of(trial, classes)};
  WhileAtWork progress{trial.folder / "scratch"};
  comparison::Services services{.config = service->services().config,
                                .database = service->services().database,
                                .executor = lanes.first_lanes(),
                                .runners = service->services().runners,
                                .channel = service->services().channel,
                                .history = service->services().history,
                                .commits = service->services().commits,
                                .clock = service->services().clock,
                                .random = service->services().random,
                                .progress = progress,
                                .lanes = &lanes};
};

}  // namespace

TEST_CASE("a nightly on three nodes, one of them slower, names its culprits") {
  Nightly night;
  const auto comparison = night.carry_out();
  night.require_culprits(comparison);
  std::set<std::string> used;
  for (const auto& [portion, nodes] : night.nodes(comparison)) {
    CHECK(nodes.size() == 1);
    used.insert(nodes.begin(), nodes.end());
  }
  CHECK(used.size() > 1);  // on a busy machine all may be dealt before the third is there
  // What follows a comparison needs one node.
  const auto held = "squeue -h -t R -o %j | grep -c " + night.trial.name;
  CHECK(test::comes_true([&] { return test::said_by(held) == "1\n"; }));
}

namespace {

void require_culprits_though_a_node_is_killed(int blocks_before) {
  Nightly night;
  std::string killed;
  night.progress.blocks_before = blocks_before;
  night.progress.act = [&](const std::string& node) {
    killed = node;
    test::cluster_command("node_kill " + node);
    test::cluster_command("node_down " + node);
  };
  const auto comparison = night.carry_out();
  night.progress.wait();
  test::cluster_command("node_start " + killed);
  test::cluster_command("node_resume " + killed);
  INFO(night.trial.logged() << night.progress.logged());
  night.require_culprits(comparison);
  CHECK(night.progress.logged().find("is measured again: lost on node " + killed) !=
        std::string::npos);
}

}  // namespace

TEST_CASE("a nightly in which a node is killed loses a block, and names its culprits") {
  require_culprits_though_a_node_is_killed(0);
}

TEST_CASE("a nightly in which a node is killed later names its culprits, too", "[.][fault]") {
  const int blocks_before = GENERATE(2, 5, 9, 14);
  CAPTURE(blocks_before);
  require_culprits_though_a_node_is_killed(blocks_before);
}

TEST_CASE("a nightly on nodes of two machine classes is measured on one of them, and says so",
          "[.][fault]") {
  Nightly night;
  night.give_another_processor("n3");
  const auto comparison = night.carry_out();
  night.require_culprits(comparison);
  std::set<std::string> used;
  for (const auto& [portion, nodes] : night.nodes(comparison)) {
    used.insert(nodes.begin(), nodes.end());
  }
  // The first order decides.
  CHECK((used == std::set<std::string>{"n3"} || !used.contains("n3")));
  CHECK((night.progress.logged() + night.trial.logged()).find("of another machine class") !=
        std::string::npos);
}

TEST_CASE("a nightly of two machine classes is measured, and searched, on the nodes of each") {
  const Configuration train{Device::cpu, Mode::train};
  const Configuration infer{Device::cpu, Mode::infer};
  // Both culprits are in training, whose searches follow it to its class.
  const bool trains_on_last = GENERATE(false, true);
  CAPTURE(trains_on_last);
  config::SlurmClass first{.name = "plain", .configurations = {trains_on_last ? infer : train}};
  first.constraint = "kind_a";
  first.lanes = 2;
  config::SlurmClass last{.name = "gpu", .configurations = {trains_on_last ? train : infer}};
  last.constraint = "kind_b";
  last.gres = "gpu:1";
  Nightly night({first, last});
  night.give_another_processor("n3");
  const auto comparison = night.carry_out();
  night.require_culprits(comparison);
  for (const auto& [portion, nodes] : night.nodes(comparison)) {
    const bool is_of_last = portion.first.configuration == last.configurations.front();
    CHECK(nodes.contains("n3") == is_of_last);
    CHECK(nodes.size() == 1);
  }
  const auto searches =
      storage::IncidentStore(night.services.database).of_comparison(comparison).value();
  for (const auto& incident : searches) {
    const storage::Owner owner{storage::OwnerKind::bisection, *incident.bisection};
    const auto runs = storage::RunStore(night.services.database).runs_of(owner).value();
    CHECK_FALSE(runs.empty());
    for (const auto& run : runs) CHECK((run.node == "n3") == trains_on_last);
  }
  CHECK(night.trial.has_logged("class plain: holds node n"));
  CHECK(night.trial.has_logged("class gpu: holds node n3"));
  CHECK_FALSE(night.trial.has_logged("of another machine class"));
  CHECK(night.progress.logged().find("of another machine class") == std::string::npos);
}
