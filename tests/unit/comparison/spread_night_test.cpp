// A nightly that is dealt over nodes says the same as one that is measured on one machine.
#include "spread_night.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace torchwatch;
using comparison::Block;
using comparison::Side;

namespace {

/// What a nightly does to a benchmark.
enum class Fate { same, slower, lost, never_runs };

struct Planted {
  std::vector<Fate> fates;
  std::uint64_t seed = 0;
};

comparison::Plan plan_of(std::size_t benchmarks) {
  comparison::Plan plan;
  plan.passes = {Pass::timing};
  for (std::size_t i = 0; i < benchmarks; ++i) {
    plan.benchmarks.push_back({"w" + std::to_string(i), {Device::cpu, Mode::infer}, {}});
  }
  return plan;
}

double drawn(std::uint64_t seed, const std::string& what, double least, double most) {
  std::mt19937_64 random(comparison::stable_hash(what, seed));
  return std::uniform_real_distribution<>(least, most)(random);
}

storage::RunRow crashed() {
  storage::RunRow run;
  run.status = RunStatus::failed;
  run.reason = "killed by signal 11 (SIGSEGV)";
  return run;
}

/// Nodes differ by up to 30 %, each benchmark by its own factor; a pair's runs by up to 1 %.
test::NodeScript script_of(const Planted& planted) {
  return [planted, runs = 0](const Block& block, Side side, const std::string& node) mutable {
    const auto fate = planted.fates[std::stoul(block.benchmark.workload.substr(1))];
    const bool candidate = side == Side::candidate;
    if (fate == Fate::never_runs || (fate == Fate::lost && candidate)) return crashed();
    const double speed = drawn(planted.seed, node + block.benchmark.workload, 1, 1.3);
    const double noise = drawn(planted.seed, std::to_string(++runs), 1, 1.01);
    const double factor = fate == Fate::slower && candidate ? 1.5 : 1;
    storage::RunRow run;
    run.values[Metric::time] = static_cast<std::int64_t>(1e7 * speed * noise * factor);
    return run;
  };
}

/// Each series' verdict, and whether it was lost.
std::map<std::string, std::pair<Verdict, bool>> said(const test::SpreadNight::Outcome& outcome) {
  std::map<std::string, std::pair<Verdict, bool>> said;
  for (const auto& series : outcome.judged) {
    said[to_string(series.verdict.series)] = {series.verdict.verdict, series.lost};
  }
  return said;
}

test::SpreadNight night_of(const Planted& planted) {
  const auto count = planted.fates.size();
  return {.plan = plan_of(count),
          .settings = comparison::SeriesSettings(detect::Settings{}),
          .seconds = std::vector<double>(count, 1),
          .script = script_of(planted)};
}

Planted some_planted() {
  const auto fate =
      rc::gen::element(Fate::same, Fate::same, Fate::slower, Fate::lost, Fate::never_runs);
  const auto count = *rc::gen::inRange<std::size_t>(1, 12);
  return {*rc::gen::container<std::vector<Fate>>(count, fate),
          *rc::gen::arbitrary<std::uint64_t>()};
}

}  // namespace

TEST_CASE("a nightly over one, two or three nodes that differ has the same verdicts and errors") {
  REQUIRE(rc::check([] {
    const auto planted = some_planted();
    const auto alone = said(night_of(planted).measure(1, 1));
    RC_ASSERT(alone.size() == planted.fates.size());
    for (const int nodes : {2, 3}) RC_ASSERT(said(night_of(planted).measure(nodes, 1)) == alone);
  }));
}

TEST_CASE("what a nightly says is the same when its nodes die, and pairs before that count") {
  REQUIRE(rc::check([] {
    const auto planted = some_planted();
    const auto alone = said(night_of(planted).measure(1, 1));
    auto night = night_of(planted);
    std::mt19937_64 random(planted.seed);
    night.is_lost = [&random, left = 20]() mutable {
      return left > 0 && random() % 3 == 0 && left-- > 0;
    };
    RC_ASSERT(said(night.measure(3, 1)) == alone);
  }));
}

TEST_CASE("a benchmark whose node died has runs of two nodes, and is unchanged") {
  auto night = night_of({{Fate::same}, 7});
  night.is_lost = [first = true]() mutable { return std::exchange(first, false); };
  const auto outcome = night.measure(1, 1);
  CHECK(outcome.moved == 1);
  REQUIRE(outcome.judged.size() == 1);
  CHECK(outcome.judged.front().verdict.verdict == Verdict::unchanged);
}
