#include "torchwatch/commands/command.hpp"

namespace torchwatch::commands {

CLI::App& Commands::add(const std::string& name, const std::string& what, Action action) {
  return add(app_, name, what, std::move(action));
}

CLI::App& Commands::add(CLI::App& parent, const std::string& name, const std::string& what,
                        Action action) {
  auto* subcommand = parent.add_subcommand(name, what);
  if (action) {
    subcommand->callback([this, action = std::move(action)] { chosen = action; });
  }
  return *subcommand;
}

}  // namespace torchwatch::commands
