#include "simulated_search.hpp"

#include <optional>
#include <stdexcept>

namespace torchwatch::test {

using namespace torchwatch::bisect;

namespace {

/// What the good end reads, in no particular unit.
constexpr double kLevel = 16;

}  // namespace

SimulatedRuns::SimulatedRuns(SimulatedDay day, std::uint64_t seed)
    : day_(std::move(day)), random_(seed), layout_(day_.classes, 0.0), session_(kLevel) {
  if (day_.noise.build_sd <= 0) return;
  std::normal_distribution<double> offset(0, day_.noise.build_sd);
  for (double& value : layout_) value = offset(random_);
}

double SimulatedRuns::level(std::size_t series, const Reference& at) const {
  double sum = session_ + (at ? layout_[*at] : 0);
  for (const auto& [from, effect] : day_.steps[series]) {
    if (at && *at >= from) sum += effect;
  }
  return sum;
}

double SimulatedRuns::run() {
  if (day_.noise.run_sd <= 0) return 0;
  double value = std::normal_distribution<double>(0, day_.noise.run_sd)(random_);
  if (std::bernoulli_distribution(day_.noise.spike_chance)(random_)) {
    value += std::exponential_distribution<double>(1 / day_.noise.spike_mean)(random_);
  }
  return value;
}

void SimulatedRuns::drift() {
  if (day_.noise.drift_sd <= 0) return;
  session_ += std::normal_distribution<double>(0, day_.noise.drift_sd)(random_);
}

SearchEvent SimulatedRuns::carry_out(const Measure& measure) {
  for (const auto& place : {measure.reference, Reference(measure.candidate)}) {
    if (place && day_.unbuildable.contains(*place)) return Unbuildable{*place};
  }
  drift();
  if (measure.alone) {
    MeasuredAlone measured{measure.candidate, {}};
    for (const auto series : measure.series) {
      for (int i = 0; i < measure.pairs; ++i) {
        measured.readings[series].push_back(level(series, measure.candidate) + run());
      }
    }
    return measured;
  }
  Measured measured{measure.candidate, measure.reference, {}, {}};
  for (const auto series : measure.series) {
    for (int i = 0; i < measure.pairs; ++i) {
      const double candidate = level(series, measure.candidate) + run();
      const double reference = level(series, measure.reference) + run();
      measured.effects[series].push_back(candidate - reference);
      measured.references[series].push_back(reference);
    }
  }
  return measured;
}

SimulatedSearch run_to_end(CulpritSearch& search, SimulatedRuns& runs) {
  SimulatedSearch result;
  for (int step = 0; step < 10'000; ++step) {
    const Action action = search.next();
    if (const auto* answer = std::get_if<Answer>(&action)) {
      result.answer = *answer;
      return result;
    }
    result.measures.push_back(std::get<Measure>(action));
    result.events.push_back(runs.carry_out(result.measures.back()));
    const auto status = search.apply(result.events.back());
    if (!status) throw std::runtime_error(status.error().message);
  }
  throw std::runtime_error("the search does not end");
}

}  // namespace torchwatch::test
