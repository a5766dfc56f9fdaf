#include <nlohmann/json.hpp>
#include <ostream>

#include "torchwatch/commands/application_command.hpp"
#include "commands.hpp"
#include "torchwatch/commands/comparison_output.hpp"
#include "suite_options.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/nightly/stages.hpp"

namespace torchwatch::cli {
namespace {

struct Options {
  std::string baseline;
  std::string candidate;
  SuiteOptions suite;
};

Outcome run_compare(const Invocation& invocation, const Options& options) {
  TW_TRY(auto config, invocation.load_config());
  TW_TRY_VOID(options.suite.apply(config));
  TW_TRY(auto opened, commands::open_application(invocation, std::move(config)));
  auto& services = opened.services();
  TW_TRY_VOID(opened.application->lock_machine());
  TW_TRY(const auto baseline,
         daemon::resolve_build(*opened.application, options.baseline, invocation.stop));
  TW_TRY(const auto candidate,
         daemon::resolve_build(*opened.application, options.candidate, invocation.stop));
  TW_TRY(const auto comparison,
         nightly::open_requested_comparison(services, candidate.id, baseline.id, false));
  TW_TRY(const auto ended, nightly::carry_out_comparison(services, comparison, invocation.stop));
  TW_TRY(const auto output, commands::gather(services, ended));
  if (invocation.json) {
    invocation.out << to_json(services.database, output).dump(2) << '\n';
  } else {
    TW_TRY_VOID(print(invocation.out, services.database, output));
  }
  return exit_status_of(output);
}

}  // namespace

void add_compare(Commands& all) {
  auto options = std::make_shared<Options>();
  auto& command = all.add(
      "compare", "Compare two builds by interleaved runs",
      [options](const Invocation& invocation) { return run_compare(invocation, *options); });
  command
      .add_option("BASELINE", options->baseline,
                  "A folder, a name in the channel, or a release of PyTorch")
      ->required();
  command.add_option("CANDIDATE", options->candidate, "The build that may be worse")->required();
  options->suite.add_to(command);
  command.footer("torchwatch compare 2.12.1 2.13.0 --workload resnet18");
}

}  // namespace torchwatch::cli
