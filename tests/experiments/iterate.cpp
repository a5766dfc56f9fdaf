// The C++ side of port_speed.py: runs iterations of a workload on request and states how long
// they took. tests/reference_models/iterate.py speaks the same protocol for the original.

#include <charconv>
#include <cstdint>
#include <ctime>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "torchwatch/models/registry.hpp"
#include "torchwatch/runner/measure.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace {

using namespace torchwatch;

constexpr const char* kUsage =
    "usage: experiment_iterate WORKLOAD infer|train BATCH\n"
    "Builds the workload with the paper's sizes on one thread of the CPU and prints LibTorch's\n"
    "version. For each line of standard input, a number of iterations, runs them and prints\n"
    "the nanoseconds they took and those of the processor's time. Ends with its input.\n";

std::int64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

int positive_number(const std::string& text) {
  int number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 1) {
    throw std::invalid_argument("invalid number \"" + text + "\": must be 1 or more");
  }
  return number;
}

models::Mode mode_of(const std::string& text) {
  if (text == "infer") return models::Mode::infer;
  if (text == "train") return models::Mode::train;
  throw std::invalid_argument("the mode is infer or train, not \"" + text + "\"");
}

std::unique_ptr<models::Workload> build(const std::string& name, const models::Setup& setup) {
  const auto* entry = models::find(name);
  if (entry == nullptr) throw std::invalid_argument(runner::unknown_workload(name));
  const auto refusal = models::unsupported_reason(entry->definition, setup);
  if (!refusal.empty()) throw std::invalid_argument(refusal);
  return models::build(entry->definition, setup);
}

void answer(models::Workload& workload, int iterations) {
  const auto processor_begin = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  const auto begin = now_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < iterations; ++i) workload.step();
  const auto elapsed = now_ns(CLOCK_MONOTONIC) - begin;
  const auto processor = now_ns(CLOCK_PROCESS_CPUTIME_ID) - processor_begin;
  std::cout << elapsed << ' ' << processor << std::endl;
}

void serve(const std::vector<std::string>& arguments) {
  const models::Setup setup{.mode = mode_of(arguments[1]),
                            .preset = models::Preset::paper,
                            .batch = positive_number(arguments[2])};
  runner::set_threads(1);
  const auto workload = build(arguments[0], setup);
  std::cout << runner::libtorch_facts()["build.torch_version"] << std::endl;
  for (std::string line; std::getline(std::cin, line);) answer(*workload, positive_number(line));
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> arguments(words + 1, words + count);
  if (arguments.size() != 3) {
    std::cerr << kUsage;
    return 2;
  }
  try {
    serve(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "experiment_iterate: " << runner::reason_of(error) << "\n";
    return 1;
  }
}
