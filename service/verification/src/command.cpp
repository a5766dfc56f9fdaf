#include "torchwatch/verification/command.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "torchwatch/commands/application_command.hpp"
#include "torchwatch/commands/page_text.hpp"
#include "torchwatch/commands/selection_options.hpp"
#include "torchwatch/comparison/external_workloads.hpp"
#include "torchwatch/conformance/verify.hpp"
#include "torchwatch/daemon/confinement.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/executor/machine_lock.hpp"
#include "torchwatch/figures/figures.hpp"
#include "torchwatch/platform/passing_folder.hpp"
#include "torchwatch/report/newest_build.hpp"

namespace torchwatch::verification {
namespace {

namespace fs = std::filesystem;
using commands::ExitStatus;
using commands::Invocation;
using commands::Outcome;
using conformance::Finding;
using conformance::Subject;
using nlohmann::json;

struct Options {
  std::vector<std::string> words;
  std::string tree;
  std::vector<std::string> metrics;
  std::vector<std::string> readable;
  std::string device;
  std::string mode;
};

/// What was found of a subject, which is a command in one configuration.
struct Verified {
  Subject subject;
  std::vector<Finding> findings;
};

/// Words that are paths start at the folder where the command is typed.
std::vector<std::string> absolute_words(std::vector<std::string> words) {
  for (auto& word : words) {
    const bool is_program = &word == &words.front();
    const bool is_path = word.starts_with("./") || word.starts_with("../");
    if (is_program || is_path) word = fs::absolute(word).lexically_normal().string();
  }
  return words;
}

/// A workload of the configuration, in each of its modes or in the one that was asked for.
Result<std::vector<Subject>> subjects_of(const config::ExternalWorkload& named,
                                         const Options& options) {
  const bool says_more =
      options.words.size() > 1 || !options.metrics.empty() || !options.readable.empty();
  if (!options.device.empty() && options.device != to_string(named.device)) {
    return fail(ErrorCode::invalid,
                "\"" + named.name + "\" runs on " + std::string(to_string(named.device)) +
                    ", as [[suite.external]] device says",
                "leave out --device, or change it there");
  }
  if (says_more) {
    return fail(ErrorCode::invalid,
                "\"" + named.name + "\" has its arguments, metrics and files in [[suite.external]]",
                "change them there, or give the path of a program");
  }
  auto modes = named.modes;
  if (!options.mode.empty()) {
    TW_TRY(const auto mode, parse_mode(options.mode));
    modes = {mode};
  }
  std::vector<Subject> subjects;
  for (const auto mode : modes) {
    auto& subject = subjects.emplace_back();
    subject.name = named.name;
    subject.command = comparison::command_of(named);
    subject.configuration = {named.device, mode};
    subject.metrics = named.metrics;
  }
  return subjects;
}

Result<std::vector<Subject>> subjects_of(const config::Config& config, const Options& options) {
  const auto& first = options.words.front();
  if (const auto* named = comparison::external_workload(config, first)) {
    return subjects_of(*named, options);
  }
  Subject subject;
  TW_TRY(subject.configuration.device,
         parse_device(options.device.empty() ? "cpu" : options.device));
  TW_TRY(subject.configuration.mode, parse_mode(options.mode.empty() ? "infer" : options.mode));
  for (const auto& word : options.metrics) {
    TW_TRY(const auto metric, parse_judged_metric(word));
    subject.metrics.push_back(metric);
  }
  if (first.find('/') == std::string::npos) {
    return fail(ErrorCode::invalid, "no [[suite.external]] is called \"" + first + "\"",
                "name one, or the path of a program: ./" + first);
  }
  subject.command.words = absolute_words(options.words);
  for (const auto& path : options.readable) {
    subject.command.readable.push_back(fs::absolute(path).lexically_normal());
  }
  if (subject.metrics.empty()) subject.metrics = {Metric::time};
  return std::vector{subject};
}

/// Returns the tree that was named, or that of the newest build.
Result<fs::path> tree_of(const config::Config& config, const std::string& named) {
  std::error_code ignored;
  if (!named.empty()) {
    if (fs::is_directory(fs::path(named) / "lib", ignored)) return fs::absolute(named);
    return fail(ErrorCode::not_found, "invalid tree " + named + ": must have a folder lib");
  }
  if (const auto database = daemon::open_reader(config)) {
    TW_TRY(const auto newest, report::newest_build(**database));
    if (newest) return fs::path(newest->folder);
  }
  return fail(ErrorCode::not_found, "no build is known yet",
              "name a tree with --tree: an unpacked LibTorch, or torch of a Python environment");
}

json to_json(const std::vector<Verified>& all, const fs::path& tree) {
  auto items = json::array();
  for (const auto& [subject, findings] : all) {
    for (const auto& each : findings) {
      items.push_back({{"check", each.check},
                       {"configuration", to_string(subject.configuration)},
                       {"holds", each.holds},
                       {"asked", each.asked},
                       {"came", each.came},
                       {"remedy", each.remedy.empty() ? json() : json(each.remedy)}});
    }
  }
  const auto& first = all.front().subject;
  return {{"schema", 1},
          {"command", first.command.words},
          {"tree", tree.string()},
          {"configuration", to_string(first.configuration)},
          {"items", std::move(items)}};
}

std::size_t failures(const std::vector<Verified>& all) {
  std::size_t count = 0;
  for (const auto& each : all) {
    count += static_cast<std::size_t>(std::ranges::count(each.findings, false, &Finding::holds));
  }
  return count;
}

void print(const Invocation& invocation, const std::vector<Finding>& findings) {
  using terminal::Table;
  using Fit = Table::Fit;
  Table table({{.heading = "check", .fit = Fit::whole},
               {.heading = "holds", .fit = Fit::whole},
               {.heading = "asked", .fit = Fit::wrap},
               {.heading = "came", .fit = Fit::wrap},
               {.heading = "what to do", .fit = Fit::wrap}});
  for (const auto& each : findings) {
    table.add({each.check, each.holds ? "yes" : "no", each.asked, each.came, each.remedy});
  }
  commands::print_table(invocation, table);
}

void print(const Invocation& invocation, const std::vector<Verified>& all) {
  for (const auto& [subject, findings] : all) {
    const auto configuration = to_string(subject.configuration);
    if (all.size() > 1) invocation.out << configuration << "\n\n";
    print(invocation, findings);
    if (all.size() > 1) invocation.out << '\n';
  }
  const auto failed = failures(all);
  invocation.out << (failed == 0 ? "\nThe command conforms.\n"
                                 : "\nThe command does not conform: " +
                                       figures::count(failed, "check") + " failed.\n");
}

tl::unexpected<Error> interrupted() {
  return fail(ErrorCode::cancelled, "interrupted", "nothing is stored: call this again");
}

Outcome run_verify(const Invocation& invocation, const Options& options) {
  TW_TRY(const auto config, invocation.load_config());
  TW_TRY(const auto subjects, subjects_of(config, options));
  TW_TRY(const auto tree, tree_of(config, options.tree));
  auto lock = executor::MachineLock::acquire(config.executor.machine_lock);
  if (!lock && lock.error().code == ErrorCode::conflict) {
    return fail(lock.error().code, lock.error().message,
                "call this again when that has ended: checks beside it would find too much");
  }
  if (!lock) return fail(lock.error());
  TW_TRY(const auto scratch, platform::PassingFolder::make());
  const auto processes = process::make_process_runner(scratch.path().string());
  TW_TRY(const auto confinement, daemon::open_sandbox(config, *processes));
  executor::LocalExecutor::Settings settings;
  settings.environment = executor::device_environment();
  settings.sandbox = confinement.sandbox;
  settings.bind_to_cores = process::may_raise_priority();
  executor::LocalExecutor executor(*processes, scratch.path() / "runs", settings);
  platform::SystemRandom random;
  std::vector<Verified> all;
  for (auto subject : subjects) {
    subject.libraries = tree / "lib";
    subject.time_limit = config.measure.time_limit;
    subject.memory_limit_bytes = config.measure.memory_limit_bytes;
    const auto folder = scratch.path() / to_string(subject.configuration);
    std::error_code ignored;
    fs::create_directory(folder, ignored);  // a pipe in it cannot be made then, which is said
    const auto heard = [&](const Finding& each) {
      invocation.err << to_string(subject.configuration) << ", " << each.check
                     << (each.holds ? " holds" : " does not hold") << std::endl;
    };
    auto findings = conformance::verify(executor, subject, random, folder, invocation.stop, heard);
    if (!findings && findings.error().code == ErrorCode::cancelled) return interrupted();
    TW_TRY(auto found, std::move(findings));
    all.push_back({std::move(subject), std::move(found)});
  }
  if (invocation.json) {
    commands::print_json(invocation, to_json(all, tree));
  } else {
    print(invocation, all);
  }
  return failures(all) == 0 ? ExitStatus::done : ExitStatus::wrong_use;
}

}  // namespace

void add_verify(commands::Commands& all, CLI::App& workload) {
  auto options = std::make_shared<Options>();
  auto& command = all.add(
      workload, "verify",
      "Test whether a program of your own answers as a workload must; each check has its remedy",
      [options](const Invocation& invocation) { return run_verify(invocation, *options); });
  command
      .add_option("COMMAND", options->words,
                  "A name of [[suite.external]], or a program with its arguments (behind -- where "
                  "they begin with -)")
      ->required();
  command.add_option("--tree", options->tree,
                     "The TREE that it measures, a folder with lib; default: that of the newest "
                     "build");
  command
      .add_option("--metric", options->metrics,
                  "A METRIC that it states: " + commands::judged_metrics() + "; default: time")
      ->allow_extra_args(false);
  command.add_option("--readable", options->readable, "A PATH that it may read besides")
      ->allow_extra_args(false);
  command
      .add_option("--device", options->device,
                  "cpu or cuda; default: cpu, or the one that [[suite.external]] names")
      ->check(commands::one_of({"cpu", "cuda"}));
  command
      .add_option("--mode", options->mode,
                  "train or infer; default: infer, or each mode that [[suite.external]] names")
      ->check(commands::one_of({"train", "infer"}));
  command.footer("torchwatch workload verify --tree .deps/libtorch ./matmul");
}

}  // namespace torchwatch::verification
