// Coverage, profiles and efficiency on a fake build.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "coverage.hpp"
#include "efficiency.hpp"
#include "scripted_day.hpp"
#include "scripted_service.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/evidence/comparison.hpp"
#include "torchwatch/runs/evidence_reader.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/traces/traces.hpp"

using namespace torchwatch;
using Catch::Contains;

namespace {

/// Passes every run on and keeps what was asked for.
class Watched final : public executor::Executor {
 public:
  explicit Watched(executor::Executor& real) : real_(real) {}

  Result<executor::RunOutcome> run(const executor::RunSpec& spec, std::stop_token stop) override {
    specs.push_back(spec);
    return real_.run(spec, stop);
  }
  Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2> specs_of,
                                                       std::stop_token stop) override {
    return real_.run_pair(std::move(specs_of), stop);
  }

  std::vector<executor::RunSpec> specs;

 private:
  executor::Executor& real_;
};

/// A service that knows one build with that behaviour, and whose runs are watched.
class OneBuild {
 public:
  explicit OneBuild(const std::string& behaviour)
      : day_(folder_.path(), {{"One", behaviour}, {"Two", ""}}),
        service_(test::ScriptedService::open(config()).value()),
        executor(service_->services().executor),
        services{.config = plain().config,
                 .database = plain().database,
                 .executor = executor,
                 .runners = plain().runners,
                 .channel = plain().channel,
                 .history = plain().history,
                 .commits = plain().commits,
                 .clock = plain().clock,
                 .random = plain().random,
                 .progress = plain().progress} {
    service_->carry_out_due_comparisons().value();
  }

  storage::BuildRow build() {
    return storage::BuildStore(services.database).list().value().front();
  }

 private:
  config::Config config() const {
    auto config = day_.config();
    config.measure.time_limit = std::chrono::seconds(77);
    config.measure.memory_limit_bytes = 1 << 30;
    return config;
  }
  comparison::Services& plain() { return service_->services(); }

  test::TemporaryFolder folder_;
  test::ScriptedDay day_;
  std::unique_ptr<test::ScriptedService> service_;

 public:
  Watched executor;
  comparison::Services services;
};

const nlohmann::json kListed = {
    {"workloads", {{{"name", "dlrm"}, {"domain", "scripted"}}, {{"name", "soft_actor_critic"}}}}};

/// A time of each of the two workloads in training.
std::vector<measurement::MeasuredFigure> two_times() {
  std::vector<measurement::MeasuredFigure> figures(2);
  figures[0].series.benchmark.workload = "dlrm";
  figures[1].series.benchmark.workload = "soft_actor_critic";
  for (auto& figure : figures) figure.value = 1e6;
  return figures;
}

}  // namespace

TEST_CASE(
    "coverage runs are the executor's, under the configured limits and attempts of their own") {
  OneBuild one("noise 0");
  const auto covered = measuring::cover(one.services, one.build(), kListed, {}).value();
  REQUIRE(covered.size() == 2);
  for (const auto& workload : covered) {
    CHECK(workload.operators == std::set<std::string>{"aten::addmm"});
    CHECK(workload.reasons.empty());
  }
  std::set<std::string> attempts;
  for (const auto& spec : one.executor.specs) {
    attempts.insert(spec.request.attempt);
    CHECK(spec.request.pass == Pass::coverage);
    CHECK(spec.request.preset == Preset::small);
    CHECK(spec.request.limits.time_ms == 77'000);
    CHECK(spec.request.limits.memory_bytes == 1 << 30);
  }
  CHECK(attempts.size() == 4);
}

TEST_CASE("what a coverage run saw is stored, as the measurement of one build") {
  OneBuild one("noise 0");
  const auto build = one.build();
  REQUIRE(measuring::cover(one.services, build, kListed, {}));
  const auto coverage = evidence::coverage_of(one.services.database, build.id).value();
  CHECK(coverage.operators.at("aten::addmm").size() == 4);
  storage::EvidenceReader reader(one.services.database);
  CHECK(reader.observed_before(Pass::coverage, INT64_MAX).value() == build.id);
  CHECK_FALSE(reader.observed_before(Pass::coverage, build.id).value());
  CHECK_FALSE(reader.observed_before(Pass::profile, INT64_MAX).value());
}

TEST_CASE("a profile on a CPU is stored with the reason why it shows no GPU") {
  OneBuild one("noise 0");
  const auto build = one.build();
  std::ostringstream out;
  std::ostringstream err;
  const commands::Invocation invocation{.out = out, .err = err, .stop = {}};
  REQUIRE(measuring::print_observed(invocation, one.services, build, {Pass::profile}));
  CHECK_THAT(out.str(), Contains("nothing of a GPU: no device"));
  const auto without =
      storage::EvidenceReader(one.services.database).unprofiled_of(build.id).value();
  REQUIRE_FALSE(without.empty());
  CHECK(without.front().reason == "no device (scripted)");

  // Each has a trace, which its page finds by the run.
  storage::EvidenceReader reader(one.services.database);
  const auto profiles = reader.profile_runs_of(build.id).value();
  REQUIRE(profiles.size() == without.size());
  const auto folder = traces::folder_beside(one.services.config.storage.path);
  for (const auto& profile : profiles) {
    CHECK(traces::size_of(traces::file_of(folder, profile.token)));
    CHECK(reader.profile_run(profile.run).value().token == profile.token);
    const auto of_benchmark = reader.profile_runs_of(profile.benchmark, 5).value();
    REQUIRE(of_benchmark.size() == 1);
    CHECK(of_benchmark.front().run == profile.run);
    CHECK(of_benchmark.front().build == build.id);
  }
}

TEST_CASE("coverage states why an answer did not count and continues") {
  OneBuild one("stale dlrm cpu-infer\ncut soft_actor_critic cpu-train");
  const auto covered = measuring::cover(one.services, one.build(), kListed, {}).value();
  REQUIRE(covered.size() == 2);
  REQUIRE(covered[0].reasons.size() == 1);
  CHECK_THAT(covered[0].reasons[0], Contains("another attempt"));
  REQUIRE(covered[1].reasons.size() == 1);
  CHECK_THAT(covered[1].reasons[0], Contains("damaged"));
  CHECK(covered[1].operators.size() == 1);
}

TEST_CASE("efficiency counts each workload and measures the machine's peak once") {
  OneBuild one("noise 0");
  const auto all = measuring::efficiency_of(one.services, one.build(), two_times(), {}).value();
  REQUIRE(all.size() == 2);
  // 2 MFLOP in 1 ms, of the 40 GFLOP/s that the scripted runner states.
  CHECK(all[0].flops_per_second == Approx(2e9));
  CHECK(all[0].share_of_peak() == Approx(0.05));
  std::vector<Pass> passes;
  for (const auto& spec : one.executor.specs) passes.push_back(spec.request.pass);
  CHECK(passes == std::vector{Pass::flops, Pass::peak, Pass::flops});
}

TEST_CASE("efficiency of an answer for another attempt is an error with the benchmark") {
  OneBuild one("stale dlrm cpu-train");
  const auto all = measuring::efficiency_of(one.services, one.build(), two_times(), {});
  REQUIRE_FALSE(all);
  CHECK_THAT(all.error().message,
             Contains("dlrm cpu-train, flops pass") && Contains("another attempt"));
}
