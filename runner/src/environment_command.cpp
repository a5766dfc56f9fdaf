#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "torchwatch/runner/environment.hpp"
#include "torchwatch/runner/libtorch.hpp"

namespace torchwatch::runner {

ExitStatus environment_command(const Call& call) {
  const bool json = call.arguments == std::vector<std::string>{"--json"};
  if (!json && !call.arguments.empty()) return wrong_use(call, "environment takes only --json");
  set_threads(1);
  const auto facts = environment_facts(cuda_is_available());
  if (json) {
    call.out << nlohmann::json{{"facts", facts}}.dump(2) << "\n";
    return ExitStatus::done;
  }
  for (const auto& [name, value] : facts) call.out << name << ": " << value << "\n";
  return ExitStatus::done;
}

}  // namespace torchwatch::runner
