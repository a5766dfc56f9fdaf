#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::comparison {

/// What one side of a study changes of how its runs are made. What is not named stays as the
/// comparison has it. Written "threads=2,OMP_DYNAMIC=true", or "default" where nothing is named.
struct Setting {
  std::optional<Precision> precision = {};
  std::optional<Backend> backend = {};
  std::optional<int> batch = {};
  std::optional<int> threads = {};
  std::optional<bool> fixed_heap = {};         ///< "heap=fixed", "heap=glibc"
  std::optional<bool> flushes_denormals = {};  ///< "denormals=flushed", "denormals=kept"
  std::optional<bool> zeroes_gradients = {};   ///< "gradients=zeroed", "gradients=none"
  std::string workload = {};                   ///< is run in the place of the benchmark's own
  std::map<std::string, std::string> environment = {};  ///< "NAME=VALUE"
  bool operator==(const Setting&) const = default;
};

/// Returns the setting as it is stored: its parts in one order, a comma within a value as "\,".
std::string to_string(const Setting&);

/// Reads a setting. Errors: invalid, naming the part, what is allowed and what to do: a word that
/// is not known or comes twice, a value out of range, an environment variable that the runner does
/// not state or sets itself.
Result<Setting> parse_setting(std::string_view text);

/// Returns the benchmark that is run on a side of a comparison of `benchmark`.
Benchmark applied(const Setting&, Benchmark benchmark);

}  // namespace torchwatch::comparison
