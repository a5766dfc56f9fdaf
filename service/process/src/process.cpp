#include "torchwatch/process/process.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <thread>

#include "orphans_posix.hpp"
#include "process_tag.hpp"
#include "supervisor_posix.hpp"

namespace torchwatch::process {
namespace {

struct Describe {
  std::string operator()(const Exited& end) const {
    return "exit status " + std::to_string(end.code);
  }
  std::string operator()(const Signalled& end) const {
    const char* const name = sigabbrev_np(end.signal);
    const std::string number = "killed by signal " + std::to_string(end.signal);
    return name == nullptr ? number : number + " (SIG" + name + ")";
  }
  std::string operator()(const TimedOut&) const { return "ran longer than its time limit"; }
  std::string operator()(const OutputLimit&) const { return "printed more than its output limit"; }
  std::string operator()(const MemoryLimit& end) const {
    return "used more memory than its limit (" + std::to_string(end.resident_bytes) +
           " bytes resident)";
  }
  std::string operator()(const Cancelled&) const { return "cancelled"; }
  std::string operator()(const SpawnFailed& end) const { return "did not start: " + end.reason; }
  std::string operator()(const Abandoned&) const {
    return "did not die of SIGKILL (stuck in the kernel); restart this machine";
  }
  std::string operator()(const Lost& end) const { return "was lost: " + end.reason; }
};

class SupervisedRunner final : public ProcessRunner {
 public:
  explicit SupervisedRunner(const std::string& owner) : supervisor_(owner, SupervisorSettings{}) {}
  ProcessOutcome run(const ProcessSpec& spec, std::stop_token stop) override {
    return supervisor_.run(spec, std::move(stop));
  }

 private:
  Supervisor supervisor_;
};

}  // namespace

bool succeeded(const ProcessOutcome& outcome) {
  const auto* const exited = std::get_if<Exited>(&outcome.end);
  return exited != nullptr && exited->code == 0;
}

std::string describe(const ProcessEnd& end) {
  return std::visit(Describe{}, end);
}

std::unique_ptr<ProcessRunner> make_process_runner(std::string owner) {
  kill_orphans_of_earlier_daemon(owner);
  return std::make_unique<SupervisedRunner>(owner);
}

// Linux gives each thread a priority of its own: one that tries and ends leaves ours as it is.
std::string find_program(const std::string& name, const std::string& folders) {
  std::istringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');) {
    auto candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

bool may_raise_priority() {
  constexpr int kHighest = -20;
  bool may = false;
  std::jthread([&] { may = setpriority(PRIO_PROCESS, 0, kHighest) == 0; }).join();
  return may;
}

bool is_tag_variable(std::string_view name) {
  return name == kOwnerVariable || name == kAttemptVariable || name == kRunVariable;
}

}  // namespace torchwatch::process
