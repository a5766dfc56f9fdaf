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

Noun::Noun(Commands& all, const std::string& name, const std::string& what,
           const std::string& example)
    : all_(all), noun_(all.add(name, what, nullptr)) {
  noun_.require_subcommand(1);
  noun_.footer("torchwatch " + name + " " + example);
}

CLI::App& Noun::add(const std::string& verb, const std::string& what, Action action) {
  auto& command = all_.add(noun_, verb, what, std::move(action));
  command.footer("torchwatch " + noun_.get_name() + " " + verb);
  return command;
}

CLI::App& Noun::add_with_id(const std::string& verb, const std::string& what,
                            std::function<Outcome(const Invocation&, storage::Id)> action) {
  auto id = std::make_shared<storage::Id>(0);
  auto& command = add(verb, what, [id, action = std::move(action)](const Invocation& invocation) {
    return action(invocation, *id);
  });
  command.add_option("ID", *id, "As `torchwatch " + noun_.get_name() + " list` lists it")
      ->required();
  command.footer("torchwatch " + noun_.get_name() + " " + verb + " 7");
  return command;
}

}  // namespace torchwatch::commands
