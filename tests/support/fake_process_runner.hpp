#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "torchwatch/doors/process.hpp"

namespace torchwatch::test {

/// Starts nothing: a function of the test says how each child ended. Keeps what was asked for.
class FakeProcessRunner final : public doors::ProcessRunner {
 public:
  using Script = std::function<doors::ProcessOutcome(const doors::ProcessSpec&, std::stop_token)>;

  /// Without a script every child exits with 0 and prints nothing.
  FakeProcessRunner() = default;
  explicit FakeProcessRunner(Script script) : script_(std::move(script)) {}

  doors::ProcessOutcome run(const doors::ProcessSpec& spec, std::stop_token stop = {}) override;

  std::vector<doors::ProcessSpec> specs() const;  ///< in the order of the calls

 private:
  Script script_;
  mutable std::mutex mutex_;
  std::vector<doors::ProcessSpec> specs_;
};

/// "it ended like this and printed that"
doors::ProcessOutcome ended(doors::ProcessEnd end, std::string output = "");

}  // namespace torchwatch::test
