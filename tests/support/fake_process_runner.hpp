#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "torchwatch/process/process.hpp"

namespace torchwatch::test {

/// Starts nothing: a function of the test says how each child ended. Keeps what was asked for.
class FakeProcessRunner final : public process::ProcessRunner {
 public:
  using Script =
      std::function<process::ProcessOutcome(const process::ProcessSpec&, std::stop_token)>;

  /// Without a script every child exits with 0 and prints nothing.
  FakeProcessRunner() = default;
  explicit FakeProcessRunner(Script script) : script_(std::move(script)) {}

  process::ProcessOutcome run(const process::ProcessSpec& spec, std::stop_token stop = {}) override;

  std::vector<process::ProcessSpec> specs() const;  ///< in the order of the calls

 private:
  Script script_;
  mutable std::mutex mutex_;
  std::vector<process::ProcessSpec> specs_;
};

/// "it ended like this and printed that"
process::ProcessOutcome ended(process::ProcessEnd end, std::string output = "");

}  // namespace torchwatch::test
