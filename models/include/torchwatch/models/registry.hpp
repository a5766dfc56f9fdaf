#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/models/workload.hpp"

namespace torchwatch::models {

/// Which batch sizes a workload can be built with.
enum class BatchRule {
  any,
  fixed,            ///< the original's batch cannot be changed
  train_in_wholes,  ///< training takes whole multiples of the preset's batch
  train_in_fours,   ///< training takes whole groups of four items
};

struct BatchSizes {
  int train = 0;
  int infer = 0;
};

/// The reason why the original refuses a mode; empty if it does not.
struct Refusals {
  std::string_view train = {};
  std::string_view infer = {};
  std::string_view cuda_infer = {};
};

/// The facts that a workload's file states; everything else is counted from the built module.
struct Definition {
  std::string_view domain;
  std::string_view task;
  BatchSizes paper;
  BatchSizes small;
  BatchRule batch_rule = BatchRule::any;
  Refusals refusals = {};
  bool runs_in_16_bits = false;       ///< parameters and inputs can be cast
  std::string_view no_autocast = {};  ///< why it cannot run under autocast; empty if it can
  std::string_view cut = {};          ///< what `small` cuts, for people
  /// Builds the workload for a setup whose batch is not 0. Parameters and inputs depend on nothing
  /// but the setup. Throws what LibTorch throws.
  std::unique_ptr<Workload> (*build)(const Setup&) = nullptr;
};

/// A function for `Definition::build`: makes a workload of the setup alone, or of the setup and its
/// preset's sizes.
template <typename W>
std::unique_ptr<Workload> build_as(const Setup& setup) {
  return std::make_unique<W>(setup);
}
template <typename W, const auto& Paper, const auto& Small>
std::unique_ptr<Workload> build_as(const Setup& setup) {
  return std::make_unique<W>(setup, setup.preset == Preset::paper ? Paper : Small);
}

/// Begins the function that defines the workload `name` of workloads.txt. Only the generated table
/// of the registry declares it, and the workload is spelled as in the original.
// NOLINTNEXTLINE(misc-use-internal-linkage,readability-identifier-naming)
#define TORCHWATCH_DEFINE(name) Definition define_##name()

struct Entry {
  std::string_view name;
  Definition definition;
};

/// The workloads compiled into this program, in the order of workloads.txt.
const std::vector<Entry>& registry();

/// Returns null if no such workload is compiled in.
const Entry* find(std::string_view name);

/// The preset's batch size for the mode.
int default_batch(const Definition&, Mode, Preset);

/// The batch size of `setup`, or the default if that is 0.
int batch_of(const Definition&, const Setup& setup);

/// The reason why `setup` cannot be built: the original refuses the mode, the precision or the
/// batch. Empty if it can be built.
std::string unsupported_reason(const Definition&, const Setup&);

/// Seeds LibTorch's generators and builds the workload; `setup.batch` 0 is the default. Throws what
/// LibTorch throws.
std::unique_ptr<Workload> build(const Definition&, Setup setup);

}  // namespace torchwatch::models
