#include "torchwatch/machines/compare.hpp"

#include "commands.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/comparison_output.hpp"
#include "torchwatch/commands/selection_options.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/documents/study.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/nightly/work_list.hpp"
#include "torchwatch/pulls/pulls.hpp"

namespace torchwatch::cli {
namespace {

struct CompareOptions {
  std::string baseline;
  std::string candidate;
  std::int64_t pull = 0;
  std::string head;
  std::string between;
  std::string against;
  bool now = false;
  bool all = false;
  commands::SelectionOptions suite;
};

using Study = std::optional<storage::StudyRow>;

constexpr std::string_view kOfMachines = "machine=";

/// The two settings of one build that are compared; nothing where two builds are.
Result<Study> study_of(const CompareOptions& options) {
  if (options.between.empty()) return std::nullopt;
  TW_TRY(const auto sides, comparison::parse_sides(options.between, options.against));
  return storage::StudyRow{
      .name = {}, .baseline = to_string(sides.baseline), .candidate = to_string(sides.candidate)};
}

nlohmann::json body_of(const CompareOptions& options, const Study& study,
                       const comparison::Selection& selection) {
  if (options.pull != 0) {
    return pulls::to_json({.pull = options.pull, .head = options.head, .selection = selection});
  }
  auto body = comparison::to_json(selection);
  body["baseline"] = commands::build_for_daemon(options.baseline);
  body["candidate"] = commands::build_for_daemon(study ? options.baseline : options.candidate);
  if (study) body["settings"] = comparison::settings_json(*study);
  if (options.now) body["now"] = true;
  return body;
}

Result<storage::ComparisonRow> open_comparison(const Invocation& invocation,
                                               commands::SessionOfCommand& opened,
                                               const CompareOptions& options, const Study& study,
                                               const comparison::Selection& selection) {
  auto& services = opened.services();
  TW_TRY(const auto baseline,
         daemon::resolve_build(*opened.application, options.baseline, invocation.stop));
  if (study) return nightly::open_study(services, baseline.id, *study, selection);
  TW_TRY(const auto candidate,
         daemon::resolve_build(*opened.application, options.candidate, invocation.stop));
  return nightly::open_requested_comparison(services, candidate.id, baseline.id, false, selection);
}

Outcome compare_here(const Invocation& invocation, commands::SessionOfCommand& opened,
                     const CompareOptions& options, const Study& study,
                     const comparison::Selection& selection) {
  auto& services = opened.services();
  TW_TRY_VOID(commands::wait_for_machine(opened, invocation.stop));
  TW_TRY(const auto comparison, open_comparison(invocation, opened, options, study, selection));
  const auto ended = nightly::carry_out_comparison(services, comparison, invocation.stop);
  if (!ended) {
    TW_TRY_VOID(nightly::end_if_refused(services, comparison.id, ended.error()));
    return fail(ended.error());
  }
  TW_TRY(auto facts,
         commands::gather(services.database, services.config, services.history, *ended));
  std::erase_if(facts.verdicts, [&](const auto& verdict) {
    return !comparison::is_selected(selection, verdict.series.metric);
  });
  return commands::print(invocation, services.database, facts, options.all);
}

/// What is said on a pull request goes through the outbox of the service.
tl::unexpected<Error> no_daemon() {
  return fail(ErrorCode::unavailable, "no daemon runs that could compare a pull request",
              "start `torchwatch serve`, and ask again");
}

Status check(const CompareOptions& options) {
  const bool is_one_build = options.pull == 0 && options.head.empty() &&
                            !options.baseline.empty() && options.candidate.empty();
  if (!options.between.empty() && !is_one_build) {
    return fail(ErrorCode::invalid, "--between compares one BUILD under two settings",
                "name one build, as in `torchwatch compare 2.13.0 --between threads=1 --and "
                "threads=2`");
  }
  if (!options.between.empty()) return {};
  const bool names_builds = !options.baseline.empty() && !options.candidate.empty();
  if (options.pull != 0 && options.baseline.empty()) return {};
  if (options.pull == 0 && options.head.empty() && names_builds) return {};
  const char* what =
      "two builds, or a pull request with --pull, must be named; --head goes with --pull";
  if (options.pull == 0 && options.baseline.empty()) {
    what = "BASELINE and CANDIDATE are missing: name two builds, or a pull request with --pull";
  } else if (is_one_build) {
    what = "CANDIDATE is missing: name a second build, or two settings of this one with --between";
  }
  return fail(ErrorCode::invalid, what, "`torchwatch compare --help` shows what there is");
}

Outcome run_compare(const Invocation& invocation, const CompareOptions& options) {
  TW_TRY_VOID(check(options));
  if (options.between.starts_with(kOfMachines) || options.against.starts_with(kOfMachines)) {
    return machines::compare_machines(
        invocation, {.build = options.baseline, .a = options.between, .b = options.against});
  }
  TW_TRY(const auto study, study_of(options));
  TW_TRY(const auto config, invocation.load_config_to_measure());
  TW_TRY(const auto selection, options.suite.selection());
  return commands::carry_out(invocation, config,
                             {.path = "/api/v1/comparisons",
                              .body = body_of(options, study, selection),
                              .without_daemon = [&](auto& opened) -> Outcome {
                                if (options.pull != 0) return no_daemon();
                                return compare_here(invocation, opened, options, study, selection);
                              }});
}

}  // namespace

void add_compare(Commands& all) {
  auto options = std::make_shared<CompareOptions>();
  auto& command = all.add(
      "compare", "Compare two builds by interleaved runs, and print what changed",
      [options](const Invocation& invocation) { return run_compare(invocation, *options); });
  command.add_option(
      "BASELINE", options->baseline,
      "The build to compare with: a folder, a name in the channel, a release of PyTorch "
      "such as 2.13.0, or a commit of [source]");
  command.add_option("CANDIDATE", options->candidate,
                     "The build that may be worse, named likewise");
  command
      .add_option("--pull", options->pull,
                  "Instead of two builds: this pull request of [github], against what it branched "
                  "from; a running daemon builds it in the sandbox")
      ->check(commands::whole_number(1, 1'000'000'000));
  command.add_option("--head", options->head,
                     "The commit of the pull request; default: its head, if it was pushed before "
                     "this command was given");
  auto* const between = command.add_option(
      "--between", options->between,
      "Instead of a second build: a setting of BASELINE, measured against the one of --and. "
      "Parts of a variant (threads=1, bf16, torchscript), heap=glibc, denormals=flushed, "
      "gradients=zeroed, "
      "workload=NAME, an environment variable NAME=VALUE, or default; commas join several. "
      "With machine=A and machine=B, numbers of `torchwatch machine list` or names of classes, "
      "nothing is measured: shows the times that are stored");
  between->needs(command.add_option("--and", options->against, "The other setting, with --between")
                     ->needs(between));
  command.add_flag("--all", options->all, "Print the unchanged series, too");
  options->suite.add_to(command);
  options->suite.add_metric_to(command);
  options->suite.add_preset_to(command);
  command.add_flag("--now", options->now,
                   "Let a running daemon do it before nightlies that are due, not after them");
  all.add_format(command);
  commands::add_events(command);
  command.footer("torchwatch compare 2.12.1 2.13.0 --workload resnet18");
}

}  // namespace torchwatch::cli
