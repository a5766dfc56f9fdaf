#include "torchwatch/studies/command.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>

#include "answers.hpp"
#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/comparison_output.hpp"
#include "torchwatch/commands/selection_options.hpp"
#include "torchwatch/commands/work.hpp"
#include "torchwatch/daemon/resolve.hpp"
#include "torchwatch/documents/study.hpp"
#include "torchwatch/nightly/stages.hpp"
#include "torchwatch/report/newest_build.hpp"
#include "torchwatch/runs/run_reader.hpp"
#include "torchwatch/storage/build_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/studies/stored.hpp"

namespace torchwatch::studies {
namespace {

using commands::ExitStatus;
using commands::Invocation;
using commands::Outcome;
using nlohmann::json;

struct Options {
  std::string file;
  std::string build;
  bool stored = false;
  bool now = false;
};

Result<std::string> newest_build(const Invocation& invocation) {
  TW_TRY(const auto database, commands::open_reader(invocation));
  TW_TRY(const auto newest, report::newest_build(*database));
  if (newest) return newest->name;
  return fail(ErrorCode::not_found, "no build is known yet",
              "name one: `torchwatch study FILE 2.13.0`");
}

/// Every pair is checked before the first is measured.
Status check(const config::Config& config, const StudyFile& study, const std::string& file) {
  for (const auto& pair : study.pairs) {
    auto asked = pair.selection;
    const auto sides = comparison::parse_sides(pair.settings.baseline, pair.settings.candidate);
    if (sides) asked.workloads = with_alternatives(*sides, asked.workloads);
    const auto checked = commands::check_measured(config, asked);
    if (checked) continue;
    const auto where =
        file + ":" + std::to_string(pair.line) + ": pair \"" + pair.settings.name + "\"";
    return fail(checked.error().within(where));
  }
  return {};
}

/// The class of the machine that a comparison's runs were made on.
Result<std::string> machine_of(storage::Database& database, storage::Id comparison) {
  constexpr int kLooked = 50;  // runs that failed state no machine
  TW_TRY(const auto runs,
         storage::RunReader(database).list({storage::OwnerKind::comparison, comparison}, {},
                                           kLooked, INT64_MAX));
  const auto known =
      std::ranges::find_if(runs, [](const auto& run) { return run.machine_class.has_value(); });
  return known == runs.end() ? std::string() : known->machine_class->name;
}

Result<Answer> answer_of(storage::Database& database, const config::Config& config,
                         const Pair& pair, const storage::ComparisonRow& row) {
  Answer answer{.pair = pair};
  TW_TRY(answer.facts, commands::gather(database, config, nullptr, row));
  std::erase_if(answer.facts.verdicts, [&](const auto& verdict) {
    return !comparison::is_selected(pair.selection, verdict.series.metric);
  });
  TW_TRY(answer.machine, machine_of(database, row.id));
  TW_TRY(answer.json, commands::to_json(database, answer.facts));
  return answer;
}

json body_of(const Options& options, const std::string& build, const Pair& pair) {
  auto body = comparison::to_json(pair.selection);
  body["baseline"] = body["candidate"] = commands::build_for_daemon(build);
  body["settings"] = comparison::settings_json(pair.settings);
  if (options.now) body["now"] = true;
  return body;
}

/// Measures a pair unless it had ended when the study was interrupted.
Result<storage::ComparisonRow> carry_out(comparison::Services& services, storage::Id build,
                                         const StudyFile& study, const Pair& pair,
                                         std::stop_token stop) {
  TW_TRY(const auto known, ended_before_interruption(services, build, study, pair));
  if (known) {
    services.progress.log("pair \"" + pair.settings.name +
                          "\" was measured before the study was "
                          "interrupted");
    return *known;
  }
  TW_TRY(const auto opened, nightly::open_study(services, build, pair.settings, pair.selection));
  return nightly::carry_out_comparison(services, opened, stop);
}

/// Measures a pair, or has the daemon do it. Appends the answer where it was measured here.
Outcome measure(const Invocation& invocation, const config::Config& config, const Options& options,
                const std::string& build, const StudyFile& study, const Pair& pair,
                std::vector<Answer>& answers) {
  const auto here = [&](commands::SessionOfCommand& opened) -> Outcome {
    auto& services = opened.services();
    TW_TRY_VOID(commands::wait_for_machine(opened, invocation.stop));
    TW_TRY(const auto row, daemon::resolve_build(*opened.application, build, invocation.stop));
    TW_TRY(const auto ended, carry_out(services, row.id, study, pair, invocation.stop));
    TW_TRY(auto answer, answer_of(services.database, services.config, pair, ended));
    answers.push_back(std::move(answer));
    return commands::exit_status_of(answers.back().facts);
  };
  return commands::carry_out(invocation, config,
                             {.path = "/api/v1/comparisons",
                              .body = body_of(options, build, pair),
                              .without_daemon = here});
}

void print(const Invocation& invocation, const StudyFile& study, const std::vector<Answer>& answers,
           const std::string& command) {
  if (answers.empty()) return;
  if (invocation.json) {
    commands::print_json(invocation, to_json(study, answers));
  } else if (invocation.markdown) {
    print_page(invocation.out, study, answers, command);
  } else {
    for (const auto& answer : answers) {
      terminal::print(invocation.out, answer.facts, false, invocation.screen);
      invocation.out << '\n';
    }
    print_table(invocation.out, study, answers, invocation.screen);
  }
}

std::string command_of(const Options& options, const std::string& build) {
  return "torchwatch study " + options.file + (build.empty() ? "" : " " + build);
}

/// The same invocation with another output.
Invocation printing_to(std::ostream& out, const Invocation& invocation) {
  return {.out = out,
          .err = invocation.err,
          .stop = invocation.stop,
          .config_file = invocation.config_file,
          .config_given = invocation.config_given,
          .json = invocation.json,
          .markdown = invocation.markdown,
          .log_level = invocation.log_level,
          .screen = invocation.screen,
          .progress = invocation.progress,
          .orders = invocation.orders,
          .events = invocation.events};
}

/// What the daemon answers to each pair is one object for programs.
Outcome hand_over_or_measure(const Invocation& invocation, const Options& options,
                             const StudyFile& study) {
  TW_TRY(const auto config, invocation.load_config_to_measure());
  TW_TRY_VOID(check(config, study, options.file));
  auto build = options.build;
  if (build.empty()) {
    TW_TRY(build, newest_build(invocation));
  }
  std::ostringstream receipts;
  std::vector<Answer> answers;
  auto status = ExitStatus::done;
  const auto inner = printing_to(invocation.json ? receipts : invocation.out, invocation);
  auto requests = json::array();
  for (const auto& pair : study.pairs) {
    receipts.str({});
    TW_TRY(const auto ended, measure(inner, config, options, build, study, pair, answers));
    status = worse(status, ended);
    auto receipt = json::parse(receipts.str(), nullptr, false);
    if (receipt.is_object()) requests.push_back(receipt.value("request", json()));
  }
  if (!requests.empty()) {
    commands::print_json(invocation,
                         json{{"schema", 1}, {"title", study.title}, {"requests", requests}});
  }
  print(invocation, study, answers, command_of(options, build));
  return status;
}

using Builds = std::optional<std::set<storage::Id>>;

/// The builds that are called so; nothing is said where no name is given. A folder is stored by its
/// canonical path.
Result<Builds> builds_called(storage::Database& database, const std::string& typed) {
  if (typed.empty()) return Builds();
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(typed, ignored);
  const auto name = is_folder ? std::filesystem::canonical(typed).string() : typed;
  TW_TRY(const auto builds, storage::BuildStore(database).list());
  std::set<storage::Id> called;
  for (const auto& build : builds) {
    if (build.name == name) called.insert(build.id);
  }
  return called;
}

using Stored = std::vector<StoredStudy>;

/// The newest answer to a pair.
std::optional<storage::ComparisonRow> answer_to(const Stored& stored, const config::Config& config,
                                                const Pair& pair, const Builds& builds) {
  auto wanted = wanted_of(config, pair, builds);
  wanted.ended = true;
  return newest_of(stored, wanted);
}

/// Answers that are shown together are of one build: that of the newest among them.
Builds build_of_newest(const Stored& stored, const config::Config& config, const StudyFile& study,
                       const Builds& builds) {
  std::optional<storage::ComparisonRow> newest;
  for (const auto& pair : study.pairs) {
    const auto row = answer_to(stored, config, pair, builds);
    if (row && (!newest || row->id > newest->id)) newest = row;
  }
  return newest ? std::set{newest->candidate} : std::set<storage::Id>();
}

Outcome show_stored(const Invocation& invocation, const Options& options, const StudyFile& study) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto database, daemon::open_reader(config));
  TW_TRY(const auto called, builds_called(*database, options.build));
  TW_TRY(const auto stored, all_stored(*database));
  const auto builds = build_of_newest(stored, config, study, called);
  std::vector<Answer> answers;
  auto status = ExitStatus::done;
  for (const auto& pair : study.pairs) {
    const auto row = answer_to(stored, config, pair, builds);
    if (!row) continue;
    TW_TRY(auto answer, answer_of(*database, config, pair, *row));
    status = worse(status, commands::exit_status_of(answer.facts));
    answers.push_back(std::move(answer));
  }
  if (answers.empty()) {
    return fail(ErrorCode::not_found,
                "no pair of " + options.file + " has been measured" +
                    (options.build.empty() ? "" : " on " + options.build),
                "`" + command_of(options, options.build) + "` measures them");
  }
  print(invocation, study, answers, command_of(options, answers.front().facts.candidate.name));
  return status;
}

Outcome run_study(const Invocation& invocation, const Options& options) {
  TW_TRY(const auto study, read_study_file(options.file));
  return options.stored ? show_stored(invocation, options, study)
                        : hand_over_or_measure(invocation, options, study);
}

}  // namespace

void add_study(commands::Commands& all) {
  auto options = std::make_shared<Options>();
  auto& command =
      all.add("study", "Compare pairs of settings of one build, as a file names them",
              [options](const Invocation& invocation) { return run_study(invocation, *options); });
  command
      .add_option("FILE", options->file,
                  "What is compared: a TOML file with [[pair]], see docs/studies.md")
      ->required();
  command.add_option("BUILD", options->build,
                     "The build, named as in `torchwatch compare`; default: the newest nightly "
                     "that is known");
  command.add_flag("--stored", options->stored,
                   "Measure nothing: show the newest answers that are stored");
  command.add_flag("--now", options->now,
                   "Let a running daemon do it before nightlies that are due, not after them");
  all.add_format(command);
  commands::add_events(command);
  command.footer("torchwatch study studies/threads.toml 2.13.0");
}

}  // namespace torchwatch::studies
