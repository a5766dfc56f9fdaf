#include <algorithm>
#include <catch2/catch.hpp>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/measurement/batch_choice.hpp"
#include "torchwatch/measurement/measurement.hpp"
#include "torchwatch/measurement/noise.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"

using namespace torchwatch;

namespace {

/// A service that knows one build with that behaviour.
class OneBuild {
 public:
  explicit OneBuild(const std::string& behaviour)
      : day_(folder_.path(), {{"One", behaviour}, {"Two", ""}}),
        service_(test::ScriptedService::open(day_.config()).value()) {
    service_->carry_out_due_comparisons().value();
  }

  comparison::Services& services() { return service_->services(); }
  storage::Id build() { return storage::BuildStore(services().database).list().value().front().id; }

 private:
  test::TemporaryFolder folder_;
  test::ScriptedDay day_;
  std::unique_ptr<test::ScriptedService> service_;
};

const measurement::NoiseFigure& of(const std::vector<measurement::NoiseFigure>& figures,
                                   const std::string& benchmark) {
  const auto found = std::ranges::find_if(
      figures, [&](const auto& figure) { return to_string(figure.benchmark) == benchmark; });
  REQUIRE(found != figures.end());
  return *found;
}

}  // namespace

TEST_CASE("a build measured against itself shows each benchmark's noise and what it hides") {
  OneBuild one("noise 0.01\nunsupported dlrm cpu-infer no such operator");
  const auto figures = measurement::measure_noise(one.services(), one.build(), 6, {}).value();

  const auto& measured = of(figures, "dlrm cpu-train");
  REQUIRE(measured.status == RunStatus::ok);
  CHECK(measured.value_ns > 0);
  CHECK(measured.run_seconds > 0);
  CHECK(measured.pair_sd > 0);
  CHECK(measured.floor.change > 0.05);  // below the gate nothing is reported
  CHECK(measured.floor.change < 0.5);
  CHECK(measured.floor.runs_unchanged < 16);  // as a nightly decides, which wants no interval
  CHECK(measured.threshold == Approx(0.07));

  const auto& refused = of(figures, "dlrm cpu-infer");
  CHECK(refused.status == RunStatus::unsupported);
  CHECK(refused.reason.find("no such operator") != std::string::npos);
}

TEST_CASE("inference batches are doubled while the throughput grows") {
  // The scripted times do not depend on the batch, so the throughput always doubles with it.
  OneBuild one("noise 0");
  const auto choices = measurement::choose_batches(one.services(), one.build(), 1, {}).value();
  REQUIRE_FALSE(choices.empty());
  for (const auto& choice : choices) {
    CHECK(choice.benchmark.configuration.mode == Mode::infer);
    CHECK(choice.batch == 65'536);
    CHECK(choice.tried.size() == 17);
    CHECK(choice.ended == "no larger batch is tried");
  }
}

TEST_CASE("a batch that cannot be built ends the doubling with the reason") {
  OneBuild one("noise 0\nunsupported dlrm cpu-infer the batch is part of the model");
  const auto choices = measurement::choose_batches(one.services(), one.build(), 1, {}).value();
  const auto refused = std::ranges::find_if(
      choices, [](const auto& choice) { return choice.benchmark.workload == "dlrm"; });
  REQUIRE(refused != choices.end());
  CHECK(refused->batch == 0);
  CHECK(refused->ended == "the batch is part of the model");
}

TEST_CASE("a measurement of one build ends without a verdict and keeps its runs") {
  OneBuild one("noise 0.01");
  const auto figures = measurement::measure_build(one.services(), one.build(), 3, {}).value();
  REQUIRE_FALSE(figures.empty());
  for (const auto& figure : figures) CHECK(figure.runs == 3);
  const auto comparisons = storage::ComparisonStore(one.services().database).list(10).value();
  CHECK(std::ranges::count_if(comparisons, [](const storage::ComparisonRow& comparison) {
          return comparison.purpose == storage::Purpose::measurement &&
                 comparison.state == storage::ComparisonState::accepted;
        }) == 1);
}
