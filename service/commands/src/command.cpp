#include "torchwatch/commands/command.hpp"

#include <algorithm>
#include <charconv>
#include <ostream>

namespace torchwatch::commands {

Result<config::Config> Invocation::load_config() const {
  auto loaded = config::load(config_file, config_given);
  if (loaded || loaded.error().code != ErrorCode::invalid) return loaded;
  const auto& [code, message, remedy] = loaded.error();
  return fail(code, message,
              remedy + (remedy.empty() ? "" : "\n") + "`torchwatch check" +
                  (config_given ? " --config " + config_file.string() : "") +
                  "` tests the configuration without measuring");
}

Result<config::Config> Invocation::load_config_to_measure() const {
  auto loaded = load_config();
  if (loaded && loaded->file.empty()) {
    err << "there is no torchwatch.toml here, so the defaults are used\n";
  }
  return loaded;
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::int64_t number = 0;
    const auto* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc{} && rest == end && number >= least && number <= most) return "";
    return '"' + text + "\" is not a number from " + std::to_string(least) + " to " +
           std::to_string(most);
  };
  return {check, ""};
}

constexpr const char* kEvents = "--events";

void add_events(CLI::App& command) {
  const std::string what =
      "Print each change of state as a line of JSON while it happens; the last line is the "
      "document that --json prints";
  command.add_flag(kEvents, what);
}

bool has_events(const CLI::App& command) {
  const auto* option = command.get_option_no_throw(kEvents);
  return option != nullptr && option->count() > 0;
}

CLI::Validator one_of(std::vector<std::string> words) {
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    return '"' + text + "\" is not " + joined_by(words, " or ");
  };
  return {check, ""};
}

std::string joined_by(const std::vector<std::string>& words, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_last = i + 1 == words.size();
    text += (i == 0 ? "" : is_last ? last : ", ") + words[i];
  }
  return text;
}

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

void Commands::add_format(CLI::App& command) {
  command
      .add_option("--format", format_,
                  "How the result is printed: table, markdown (the text of its issue or of its "
                  "page), json (as --json does); default: table")
      ->type_name("FORMAT")
      ->check(one_of({"table", "markdown", "json"}));
}

Status Commands::take_format(Invocation& invocation, bool has_events) const {
  if (has_events && (invocation.json || !format_.empty())) {
    return fail(ErrorCode::invalid,
                std::string(format_.empty() ? "--json" : "--format") +
                    " prints one document at the end, --events lines while it works",
                "leave out one of them");
  }
  if (invocation.json && !format_.empty() && format_ != "json") {
    return fail(ErrorCode::invalid, "--json is --format json, and --format is " + format_,
                "leave out one of them");
  }
  invocation.json = invocation.json || format_ == "json";
  invocation.markdown = format_ == "markdown";
  return {};
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
      ->required()
      ->check(whole_number(1));
  command.footer("torchwatch " + noun_.get_name() + " " + verb + " 7");
  return command;
}

}  // namespace torchwatch::commands
