#include "fake_process_runner.hpp"

namespace torchwatch::test {

doors::ProcessOutcome FakeProcessRunner::run(const doors::ProcessSpec& spec, std::stop_token stop) {
  {
    const std::lock_guard lock(mutex_);
    specs_.push_back(spec);
  }
  if (stop.stop_requested()) return ended(doors::Cancelled{});
  constexpr std::int64_t kAnyPid = 4711;
  if (spec.on_started) spec.on_started(kAnyPid);
  return script_ ? script_(spec, std::move(stop)) : ended(doors::Exited{0});
}

std::vector<doors::ProcessSpec> FakeProcessRunner::specs() const {
  const std::lock_guard lock(mutex_);
  return specs_;
}

doors::ProcessOutcome ended(doors::ProcessEnd end, std::string output) {
  doors::ProcessOutcome outcome;
  outcome.end = std::move(end);
  outcome.output = std::move(output);
  return outcome;
}

}  // namespace torchwatch::test
