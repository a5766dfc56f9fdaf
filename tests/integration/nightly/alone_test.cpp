#include <algorithm>
#include <catch2/catch.hpp>

#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/nightly/batch_choice.hpp"
#include "torchwatch/nightly/noise.hpp"
#include "torchwatch/nightly/solo.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/night_store.hpp"

using namespace torchwatch;

namespace {

/// A service that knows one build which behaves like this.
class OneBuild {
 public:
  explicit OneBuild(const std::string& behaviour)
      : day_(folder_.path(), {{"One", behaviour}, {"Two", ""}}),
        service_(test::ScriptedService::open(day_.config()).value()) {
    service_->carry_out_due_nights().value();
  }

  nightly::Workshop& workshop() { return service_->workshop(); }
  storage::Id build() { return storage::BuildStore(workshop().database).list().value().front().id; }

 private:
  test::TemporaryFolder folder_;
  test::ScriptedDay day_;
  std::unique_ptr<test::ScriptedService> service_;
};

const nightly::NoiseFigure& of(const std::vector<nightly::NoiseFigure>& figures,
                               const std::string& cell) {
  const auto found = std::ranges::find_if(
      figures, [&](const auto& figure) { return to_string(figure.cell) == cell; });
  REQUIRE(found != figures.end());
  return *found;
}

}  // namespace

TEST_CASE("a build measured against itself tells each cell's noise and what it hides") {
  OneBuild one("noise 0.01\nunsupported dlrm cpu-infer no such operator");
  const auto figures = nightly::measure_noise(one.workshop(), one.build(), 6, {}).value();

  const auto& measured = of(figures, "dlrm cpu-train");
  REQUIRE(measured.status == RunStatus::ok);
  CHECK(measured.value_ns > 0);
  CHECK(measured.run_seconds > 0);
  CHECK(measured.pair_sd > 0);
  CHECK(measured.floor.change > 0.05);  // below the gate nothing is reported
  CHECK(measured.floor.change < 0.5);

  const auto& refused = of(figures, "dlrm cpu-infer");
  CHECK(refused.status == RunStatus::unsupported);
  CHECK(refused.reason.find("no such operator") != std::string::npos);
}

TEST_CASE("inference batches are doubled while the throughput grows") {
  // The scripted times do not depend on the batch: the throughput doubles with it, for ever.
  OneBuild one("noise 0");
  const auto choices = nightly::choose_batches(one.workshop(), one.build(), 1, {}).value();
  REQUIRE_FALSE(choices.empty());
  for (const auto& choice : choices) {
    CHECK(choice.cell.configuration.mode == Mode::infer);
    CHECK(choice.batch == 65'536);
    CHECK(choice.tried.size() == 17);
    CHECK(choice.ended == "no larger batch is tried");
  }
}

TEST_CASE("a batch that cannot be built ends the doubling with its reason") {
  OneBuild one("noise 0\nunsupported dlrm cpu-infer the batch is part of the model");
  const auto choices = nightly::choose_batches(one.workshop(), one.build(), 1, {}).value();
  const auto refused = std::ranges::find_if(
      choices, [](const auto& choice) { return choice.cell.workload == "dlrm"; });
  REQUIRE(refused != choices.end());
  CHECK(refused->batch == 0);
  CHECK(refused->ended == "the batch is part of the model");
}

TEST_CASE("a build measured alone ends without a verdict and keeps its runs") {
  OneBuild one("noise 0.01");
  const auto figures = nightly::measure_alone(one.workshop(), one.build(), 3, {}).value();
  REQUIRE_FALSE(figures.empty());
  for (const auto& figure : figures) CHECK(figure.runs == 3);
  const auto nights = storage::NightStore(one.workshop().database).list(10).value();
  CHECK(std::ranges::count_if(nights, [](const storage::NightRow& night) {
          return night.kind == storage::NightKind::compare &&
                 night.state == storage::NightState::accepted;
        }) == 1);
}
