// A planted day of commits that change Python alone: measured by a workload in Python, built by the
// recipe that lays a commit's Python over a build, searched, named. What is built is a stand-in of
// a few lines for PyTorch, so that the day takes two minutes.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <set>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "test_repository.hpp"
#include "torchwatch/bisection/trace.hpp"
#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/storage/bisection_store.hpp"

using namespace torchwatch;
namespace fs = std::filesystem;

namespace {

constexpr int kCommits = 40;
constexpr int kSlower = 12;
constexpr int kLeaking = 27;
constexpr int kRounding = 33;
const std::string kSource = TORCHWATCH_SOURCE_DIR;

std::string adam(int rounds) {
  return "class Adam:\n"
         "    def __init__(self, parameters):\n"
         "        self.parameters = parameters\n\n"
         "    def step(self):\n"
         "        total = 0.0\n"
         "        for _ in range(" +
         std::to_string(rounds) +
         "):\n"
         "            for each in self.parameters:\n"
         "                total += each * 0.999\n"
         "        return total\n";
}

const std::string kAutograd =
    "def backward(values):\n"
    "    return [each * 2.0 for each in values]\n";
const std::string kAutogradLeaking =
    "_last = []\n\n\n"
    "def backward(values):\n"
    "    _last.append(bytearray(65536))\n"
    "    return [each * 2.0 for each in values]\n";
const std::string kLoss =
    "def mean(values):\n"
    "    return sum(values) / len(values)\n";
const std::string kLossRounding =
    "def mean(values):\n"
    "    return sum(values) / len(values) * 1.02\n";
const std::string kModel =
    "from torchwatch_workload import import_torch, serve\n\n\n"
    "def make(setting):\n"
    "    torch = import_torch()\n"
    "    parameters = [float(number) for number in range(400)]\n"
    "    optimiser = torch.optim.Adam(parameters)\n\n"
    "    def step():\n"
    "        gradients = torch.autograd.backward(parameters)\n"
    "        optimiser.step()\n"
    "        return torch.loss.mean(gradients)\n\n"
    "    return step\n\n\n"
    "serve(make)\n";

test::TestCommit commit(int number) {
  test::TestCommit made;
  made.committer_time = 1'600'000'000 + 600 * number;
  made.subject = "Reword comment " + std::to_string(number);
  made.files["torch/nn.py"] = "# Comment " + std::to_string(number) + "\n";
  if (number == kSlower) made.files = {{"torch/optim/adam.py", adam(130)}};
  if (number == kLeaking) made.files = {{"torch/autograd.py", kAutogradLeaking}};
  if (number == kRounding) made.files = {{"torch/loss.py", kLossRounding}};
  return made;
}

/// The day in a folder: a base with its Python part, the repository, two nightlies.
class PythonDay {
 public:
  PythonDay() {
    // Its builds have libraries that can be read as such.
    const test::ScriptedDay fakes(folder_.path() / "fakes", {{"One", "noise 0"}});
    fs::create_directories(base().parent_path());
    fs::copy(folder_.path() / "fakes/nightlies/2026-08-16", base(), fs::copy_options::recursive);
    folder_.write("packages/torch/__init__.py", "from . import autograd, loss, nn, optim\n");
    folder_.write("packages/torch/optim/__init__.py", "from .adam import Adam\n");
    folder_.write("packages/torch/optim/adam.py", adam(100));
    folder_.write("packages/torch/autograd.py", kAutograd);
    folder_.write("packages/torch/loss.py", kLoss);
    folder_.write("packages/torch/nn.py", "");
    folder_.write("mymodel.py", kModel);
    fs::copy(kSource + "/deploy/workloads/torchwatch_workload.py", folder_.path());
    fs::create_directories(folder_.path() / "pytorch.git");
    test::TestRepository repository(folder_.path() / "pytorch.git");
    for (int number = 0; number < kCommits; ++number) {
      shas_.push_back(repository.commit(commit(number)));
    }
    publish("2026-08-16", shas_.front());
    publish("2026-08-17", shas_.back());
  }

  const std::string& sha(int number) const { return shas_.at(static_cast<std::size_t>(number)); }

  config::Config config() const {
    auto config = test::scripted_config(folder_.path());
    config.build.recipe = kSource + "/deploy/recipes/python";
    config.suite.workloads = {"mymodel"};
    config.suite.configurations = {{Device::cpu, Mode::train}};
    config.suite.externals = {
        {.name = "mymodel",
         .command = {"/usr/bin/python3", (folder_.path() / "mymodel.py").string()},
         .metrics = {Metric::time, Metric::heap_growth, Metric::output_difference},
         .device = Device::cpu,
         .modes = {Mode::train},
         .readable = {}}};
    config.measure.outputs = true;
    config.measure.enough = std::chrono::milliseconds(200);
    return config;
  }

 private:
  fs::path base() const { return folder_.path() / "packages/torch"; }

  /// Makes a nightly as the recipe makes a build of its commit.
  void publish(const std::string& name, const std::string& sha) const {
    const auto source = folder_.path() / "checkout";
    const auto tree = folder_.path() / "nightlies" / name;
    fs::remove_all(source);
    REQUIRE(bisect::check_out(folder_.path() / "pytorch.git", sha, source));
    fs::create_directories(tree);
    const auto command = "TORCHWATCH_SOURCE=" + source.string() + " TORCHWATCH_COMMIT=" + sha +
                         " TORCHWATCH_PREFIX=" + tree.string() +
                         " TORCHWATCH_PYTHON_BASE=" + base().string() + " " + kSource +
                         "/deploy/recipes/python";
    REQUIRE(std::system(command.c_str()) == 0);
  }

  test::TemporaryFolder folder_;
  std::vector<std::string> shas_;
};

}  // namespace

TEST_CASE("of forty commits that change Python alone, the slow, leaking and wrong ones are named") {
  const PythonDay day;
  auto service = test::ScriptedService::open(day.config()).value();
  const auto done = service->carry_out_due_comparisons();
  if (!done) FAIL(done.error().text());
  const auto searches = storage::BisectionStore(service->services().database).list(10).value();
  std::set<std::string> named;
  for (const auto& row : searches) {
    const auto result = bisection::parse_bisection_result(row.result_json).value();
    INFO(row.result_json);
    for (const auto& culprit : result.culprits) {
      named.insert(culprit.commits.begin(), culprit.commits.end());
    }
  }
  CHECK(named == std::set{day.sha(kSlower), day.sha(kLeaking), day.sha(kRounding)});
}
