#include "torchwatch/config/config.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "torchwatch/commands/items.hpp"
#include "torchwatch/config/effective.hpp"
#include "torchwatch/report/view.hpp"

namespace torchwatch::cli {
namespace {

using config::EffectiveValue;

struct ConfigOptions {
  bool only_set = false;
};

std::string origin_of(const EffectiveValue& value, const std::string& file) {
  return value.line == 0 ? "default" : file + ":" + std::to_string(value.line);
}

nlohmann::json json_of(const EffectiveValue& value) {
  return {{"table", value.key.table},
          {"name", value.key.name},
          {"value", value.value},
          {"default", value.key.default_value},
          {"origin", value.line == 0 ? "default" : "file"},
          {"line", value.line == 0 ? nlohmann::json(nullptr) : nlohmann::json(value.line)},
          {"allowed", report::text_or_null(value.key.allowed)}};
}

Outcome run_config(const Invocation& invocation, const ConfigOptions& options) {
  TW_TRY(const auto values,
         config::effective_values(invocation.config_file, invocation.config_given));
  const auto file = invocation.config_file.string();
  using Fit = terminal::Table::Fit;
  commands::Items items{terminal::Table({{.heading = "key", .fit = Fit::whole},
                                         {.heading = "value", .fit = Fit::wrap},
                                         {.heading = "from", .rank = 1}})};
  for (const auto& value : values) {
    if (options.only_set && value.line == 0) continue;
    items.table.add(
        {"[" + value.key.table + "] " + value.key.name, value.value, origin_of(value, file)});
    items.json.push_back(json_of(value));
  }
  commands::print(invocation, items, "No key is set: all have their defaults.");
  return ExitStatus::done;
}

}  // namespace

void add_config(Commands& all) {
  const auto options = std::make_shared<ConfigOptions>();
  auto& command =
      all.add("config", "The value of every key as it is used, and where it comes from",
              [options](const auto& invocation) { return run_config(invocation, *options); });
  command.add_flag("--set", options->only_set, "Only keys that the file sets");
  command.footer("torchwatch config --set");
}

}  // namespace torchwatch::cli
