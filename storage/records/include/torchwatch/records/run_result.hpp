#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch {

/// Live bytes of LibTorch's allocator and of the whole heap over steady iterations, and the bytes
/// left at the end.
struct LeakFigures {
  std::int64_t growth_bytes_per_iteration = 0;  ///< 0 unless every block's minimum rises
  std::int64_t retained_bytes = 0;              ///< after destruction, over before construction
  std::vector<std::int64_t> live_bytes;         ///< after each watched iteration
  std::vector<std::int64_t> heap_bytes{};       ///< likewise; empty where it is unknown
};

/// What of one of a workload's outputs tells whether another build computes the same.
struct OutputFigures {
  std::string name;             ///< with type and shape: "logits float32 [4, 1000]", "loss"
  double scale = 0;             ///< the size of its elements, by their root mean square
  std::vector<double> figures;  ///< mean, spread, some elements; not finite where those are not
};

/// The greatest value of output_difference: results that have nothing in common.
inline constexpr std::int64_t kOutputDifferenceMax = 2'000'000'000;

/// What an operator takes of an iteration by itself, without the operators that it calls.
struct OperatorFigures {
  std::int64_t calls = 0;
  std::int64_t self_ns = 0;
  std::int64_t allocated_bytes = 0;  ///< by LibTorch's CPU allocator
  std::int64_t kept_bytes = 0;       ///< of those, more live at an iteration's end than before it
  bool operator==(const OperatorFigures&) const = default;
};

/// Among operators: what of an iteration lies outside of all of them.
inline constexpr const char* kOutsideOperators = "(outside operators)";

/// How a window on a device was spent, in ns; the three sum to the window.
struct Breakdown {
  std::int64_t active_ns = 0;
  std::int64_t copy_ns = 0;
  std::int64_t idle_ns = 0;
};

/// Facts about what the process ran on, by name. Runs with equal `facts` are comparable;
/// `volatile_facts` (load, faults, switches) may differ.
struct Environment {
  std::map<std::string, std::string> facts;
  std::map<std::string, std::int64_t> volatile_facts;
};

/// One run's outcome as the runner states it. A workload that failed is a result as well.
struct RunResult {
  std::string attempt;
  RunStatus status = RunStatus::ok;
  /// For unsupported and failed. For ok why there are no outputs or, stored by the service, which
  /// one is furthest from the baseline's: "most in logits float32 [4, 1000]".
  std::string reason;

  std::vector<std::int64_t> samples_ns;         ///< wall, per iteration (batched ones divided)
  std::vector<std::int64_t> device_samples_ns;  ///< by device events, where there is a device
  std::int64_t iterations_per_sample = 1;

  std::map<Metric, std::int64_t> values;  ///< the run's value of each metric that it measured
  std::optional<LeakFigures> leak;        ///< memory pass
  std::vector<OutputFigures> outputs;     ///< memory pass, where the request asks for them
  std::optional<Breakdown> breakdown;     ///< profile pass
  std::string breakdown_reason;           ///< why there is no breakdown
  std::map<std::string, std::int64_t> operators;  ///< coverage pass: calls of each operator
  /// Profile pass, where the request asks for them: by operator.
  std::map<std::string, OperatorFigures> operator_figures;
  std::optional<std::int64_t> flops_per_iteration;  ///< flops pass: operations counted
  std::optional<std::int64_t> flops_per_second;     ///< peak pass: of the fastest matrix product
  Environment environment;
};

}  // namespace torchwatch
