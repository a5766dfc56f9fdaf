#include "fake_process_runner.hpp"

namespace torchwatch::test {

process::ProcessOutcome FakeProcessRunner::run(const process::ProcessSpec& spec,
                                               std::stop_token stop) {
  {
    const std::lock_guard lock(mutex_);
    specs_.push_back(spec);
  }
  if (stop.stop_requested()) return ended(process::Cancelled{});
  constexpr std::int64_t kAnyPid = 4711;
  if (spec.on_started) spec.on_started(kAnyPid);
  return script_ ? script_(spec, std::move(stop)) : ended(process::Exited{0});
}

std::vector<process::ProcessSpec> FakeProcessRunner::specs() const {
  const std::lock_guard lock(mutex_);
  return specs_;
}

process::ProcessOutcome ended(process::ProcessEnd end, std::string output) {
  process::ProcessOutcome outcome;
  outcome.end = std::move(end);
  outcome.output = std::move(output);
  return outcome;
}

}  // namespace torchwatch::test
