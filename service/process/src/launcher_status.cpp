#include "launcher_status.hpp"

#include <signal.h>

namespace torchwatch::process {
namespace {

constexpr int kSignalBase = 128;

}  // namespace

ProcessEnd end_of_launched(const ProcessEnd& launcher, std::string_view report) {
  const auto* const exited = std::get_if<Exited>(&launcher);
  if (exited == nullptr) return launcher;
  if (report.find("\"exit-code\"") == std::string_view::npos) {
    return SpawnFailed{"the sandbox did not start it"};
  }
  const int signal = exited->code - kSignalBase;
  if (signal > 0 && signal < NSIG) return Signalled{signal};
  return launcher;
}

}  // namespace torchwatch::process
