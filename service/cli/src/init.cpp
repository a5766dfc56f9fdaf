#include <filesystem>
#include <ostream>

#include "commands.hpp"
#include "torchwatch/measuring/checked.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::cli {
namespace {

Outcome run_init(const Invocation& invocation) {
  const auto& file = invocation.config_file;
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    return fail(ErrorCode::invalid, "there is a " + file.string() +
                                        " already: edit it, or name another file with --config");
  }
  TW_TRY_VOID(platform::publish_file(file, config::example()));
  TW_TRY(const auto config, config::load(file, true));
  const auto checked = measuring::check(config);
  if (invocation.json) {
    const nlohmann::json answer{{"schema", 1}, {"file", file.string()}, {"items", checked.json}};
    commands::print_json(invocation, answer);
    return ExitStatus::done;
  }
  invocation.out << "Wrote " << file.string()
                 << ": every key with its default. Take away the # before what you change.\n"
                    "Set [channel] and [source] first. With the defaults `torchwatch check` says:"
                    "\n\n";
  checked.table.print(invocation.out, invocation.screen);
  return ExitStatus::done;
}

}  // namespace

void add_init(Commands& all) {
  all.add("init", "Write a configuration with every key, its default and meaning, and test it",
          run_init)
      .footer("torchwatch init --config /etc/torchwatch/torchwatch.toml");
}

}  // namespace torchwatch::cli
