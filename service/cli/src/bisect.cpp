#include <nlohmann/json.hpp>
#include <ostream>

#include "commands.hpp"
#include "torchwatch/commands/exit_status.hpp"
#include "torchwatch/commands/links.hpp"
#include "torchwatch/commands/page_text.hpp"
#include "torchwatch/commands/selection_options.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/daemon/on_demand.hpp"
#include "torchwatch/records/hex.hpp"
#include "torchwatch/report/view.hpp"
#include "torchwatch/terminal/bisection_text.hpp"

namespace torchwatch::cli {
namespace {

struct BisectOptions {
  requests::BisectionRequest request;
  bool now = false;
  commands::SelectionOptions suite;
};

Outcome bisect_here(const Invocation& invocation, commands::SessionOfCommand& opened,
                    const requests::BisectionRequest& request) {
  TW_TRY_VOID(commands::wait_for_machine(opened, invocation.stop));
  TW_TRY(const auto row, daemon::bisect_on_demand(*opened.application, request, invocation.stop));
  TW_TRY(const auto result, bisection::parse_bisection_result(row.result_json));
  const auto* history = opened.services().history;
  auto suspect = request.suspect;
  if (history != nullptr && !suspect.empty()) suspect = history->resolve(suspect).value_or(suspect);
  if (invocation.json) {
    auto object = report::result_of(row);
    object["schema"] = 1;
    commands::print_json(invocation, object);
  } else if (invocation.markdown) {
    auto& services = opened.services();
    TW_TRY_VOID(commands::print_page(invocation, services.config, services.database,
                                     commands::page_of(row)));
  } else {
    const terminal::AskedCommits asked{
        .good = short_sha(row.good), .bad = short_sha(row.bad), .suspect = suspect};
    commands::print_linked(invocation, [&](auto& out) {
      terminal::print(out, result, history, asked, invocation.screen);
    });
  }
  return commands::exit_status_of(result);
}

Outcome run_bisect(const Invocation& invocation, const BisectOptions& options) {
  auto request = options.request;
  if (request.suspect.empty() && (request.good.empty() || request.bad.empty())) {
    return fail(ErrorCode::invalid,
                "GOOD and BAD are needed, or --suspect COMMIT, which tests that one alone");
  }
  TW_TRY(request.selection, options.suite.selection());
  auto body = nlohmann::json::parse(to_json(request));
  if (options.now) body["now"] = true;
  TW_TRY(const auto config, invocation.load_config_to_measure());
  return commands::carry_out(
      invocation, config,
      {.path = "/api/v1/bisections",
       .kind = storage::RequestKind::bisection,
       .body = body,
       .without_daemon = [&](auto& opened) { return bisect_here(invocation, opened, request); }});
}

}  // namespace

void add_bisect(Commands& all) {
  auto options = std::make_shared<BisectOptions>();
  auto& command =
      all.add("bisect", "Find the commit between GOOD and BAD that made a workload worse",
              [options](const Invocation& invocation) { return run_bisect(invocation, *options); });
  command.add_option("GOOD", options->request.good,
                     "The last commit known good: a revision of [source] or a nightly's name");
  command.add_option("BAD", options->request.bad,
                     "The first commit known bad, named likewise; without --workload the suite is "
                     "compared between both first");
  command.add_option("--suspect", options->request.suspect,
                     "Test this commit against its parent first; the range only if that does not "
                     "reproduce");
  options->suite.add_to(command);
  options->suite.add_metric_to(command);
  options->suite.add_preset_to(command);
  command.add_flag("--now", options->now,
                   "Let a running daemon do it before nightlies that are due, not after them");
  all.add_format(command);
  commands::add_events(command);
  command.footer("torchwatch bisect 2026-08-16 2026-08-17 --workload resnet18 --mode train");
}

}  // namespace torchwatch::cli
