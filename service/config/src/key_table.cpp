#include <string_view>

#include "key.hpp"

namespace torchwatch::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void resolve_location(const std::filesystem::path& folder, std::string& location) {
  if (!location.empty() && !is_url(location)) {
    location = (folder / location).lexically_normal().string();
  }
}

/// A key that holds a path or a URL. Only a path is relative to the file.
Key location_key(Key made, std::string Config::Source::* member) {
  made.resolve = [=](const std::filesystem::path& folder, Config& config) {
    resolve_location(folder, config.source.*member);
  };
  return made;
}

void add_sources(std::vector<Key>& table) {
  using C = Config;
  table.push_back(key("storage", "path", &C::storage, &C::Storage::path,
                      filled<std::filesystem::path>(),
                      "The database. It is created if it does not exist."));
  table.push_back(key("storage", "backups", &C::storage, &C::Storage::backups,
                      Allowed<std::filesystem::path>{},
                      "The folder of the backups that are asked for over HTTP. Empty: backups "
                      "beside the database."));

  table.push_back(
      key("channel", "kind", &C::channel, &C::Channel::kind,
          words_of<ChannelKind>("directory, wheel-index, archive"),
          "Where builds come from: a folder of them, an index of wheels, or LibTorch archives."));
  table.push_back(key("channel", "path", &C::channel, &C::Channel::path,
                      filled<std::filesystem::path>(),
                      "The folder of a directory channel, with one LibTorch tree per folder."));
  table.push_back(key("channel", "poll", &C::channel, &C::Channel::poll, between(seconds(1), kDay),
                      "How often the daemon looks for new builds."));
  table.push_back(key("channel", "index", &C::channel, &C::Channel::index, http_address_or_none(),
                      "Of wheels: the index, such as https://download.pytorch.org/whl/nightly/cpu; "
                      "empty: the releases that pip finds by its own settings. Of archives: a page "
                      "of links to them, or their address with {date} in the place of 20260816."));
  table.push_back(key("channel", "flavour", &C::channel, &C::Channel::flavour, version_label(),
                      "Only the index's versions with this label, such as cpu or cu130. Empty: "
                      "all."));
  table.push_back(key("channel", "since", &C::channel, &C::Channel::since, date_or_version(),
                      "The oldest version to take from the index: a date such as 2026-08-16, or a "
                      "version. Empty: the newest two, and what comes after them."));
  table.push_back(key("channel", "python", &C::channel, &C::Channel::python, Allowed<bool>{},
                      "Whether wheels become trees that Python can import, with the packages that "
                      "they require, for workloads in Python: of a wheel index alone."));
  table.push_back(key("channel", "keep", &C::channel, &C::Channel::keep, between(1, 1000),
                      "How many of the index's newest builds stay on this machine whatever [build] "
                      "cache_limit is."));

  table.push_back(location_key(
      key("source", "repository", &C::source, &C::Source::repository, Allowed<std::string>{},
          "The git repository whose commits are bisected: a path, or an address, which is cloned "
          "beside the database and kept up to date. Empty: no bisection."),
      &C::Source::repository));
  table.push_back(key("source", "branch", &C::source, &C::Source::branch, filled<std::string>(),
                      "Its trunk. The first parents of this branch are the commits to bisect."));
}

/// A recipe is a path, or the word for builds by a workflow.
Key recipe_key(Key made) {
  made.resolve = [resolve = made.resolve](const std::filesystem::path& folder, Config& config) {
    if (config.build.recipe != kActions) resolve(folder, config);
  };
  return made;
}

void add_builds(std::vector<Key>& table) {
  using C = Config;
  table.push_back(recipe_key(key("build", "recipe", &C::build, &C::Build::recipe,
                                 Allowed<std::filesystem::path>{},
                                 "The executable that builds one commit. \"actions\": the "
                                 "workflow of [actions] does. Empty: no commits are built.")));
  table.push_back(key("build", "artifacts", &C::build, &C::Build::artifacts, template_of_commits(),
                      "Where a build of a commit may lie that somebody else has made, asked before "
                      "the recipe: an address or path of a wheel or LibTorch archive. Empty: "
                      "nowhere."));
  table.push_back(key("build", "timeout", &C::build, &C::Build::timeout,
                      between(seconds(1), 7 * kDay), "Time limit of one build."));
  table.push_back(
      key("build", "jobs", &C::build, &C::Build::jobs, between(0, 1024),
          "Parallel jobs of a build. 0: one per core, shared by builds that run at once."));
  table.push_back(
      key("build", "builders", &C::build, &C::Build::builders, between(1, 64),
          "How many builds a bisection makes at once, on this machine or wherever the recipe "
          "sends them."));
  table.push_back(key("build", "cache", &C::build, &C::Build::cache,
                      filled<std::filesystem::path>(),
                      "Where builds, runner kits and packages are kept."));
  table.push_back(
      key("build", "cache_limit", &C::build, &C::Build::cache_limit_bytes,
          between(64 * kMiB, 1024 * 1024 * kGiB),
          "Size limit of the cache: builds of commits, releases, kits and packages. The "
          "least recently used go first."));
  table.push_back(key("build", "disk_reserve", &C::build, &C::Build::disk_reserve_bytes,
                      between(std::int64_t{0}, 1024 * kGiB),
                      "How much of the disks of the cache and of the database must be free before "
                      "work begins."));
  table.push_back(key(
      "build", "kit_sources", &C::build, &C::Build::kit_sources, Allowed<std::filesystem::path>{},
      "A checkout or share/torchwatch of an installation, for its runner, models and "
      "deploy/libtorch. Empty: those of this program."));
  table.push_back(key("build", "output_limit", &C::build, &C::Build::output_limit_bytes,
                      between(4 * kKiB, kGiB),
                      "How much a build may print. One that prints more is ended, as a fault."));
}

void add_suite(std::vector<Key>& table) {
  using C = Config;
  table.push_back(
      key("suite", "preset", &C::suite, &C::Suite::preset, words_of<Preset>("paper, small"),
          "Sizes of the workloads: those of the paper, or smaller ones that run quickly."));
  table.push_back(key("suite", "workloads", &C::suite, &C::Suite::workloads,
                      distinct("names of workloads, each once"),
                      "The workloads to measure. Empty: all."));
  table.push_back(key(
      "suite", "configurations", &C::suite, &C::Suite::configurations,
      Allowed<std::vector<Configuration>>{"cpu-train, cpu-infer, cuda-train, cuda-infer, each once",
                                          is_distinct<Configuration>},
      "The configurations to measure. Empty: all that the machine has."));
  table.push_back(
      key("suite", "variants", &C::suite, &C::Suite::variants,
          Allowed<std::vector<Variant>>{
              "one or more, each once: default, or precision, backend, batch=N, threads=N and "
              "operator=NAME joined by commas",
              [](const std::vector<Variant>& list) { return !list.empty() && is_distinct(list); }},
          "The variants of each configuration. The precisions are fp32, tf32, fp16, bf16 "
          "and amp, the backends torchscript and aot_inductor, where a workload has them. "
          "operator=NAME is the time of that operator in each workload."));
  table.push_back(
      key("suite", "inference_batches", &C::suite, &C::Suite::inference_batches,
          Allowed<std::filesystem::path>{},
          "The batch sizes of inference, a table that torchwatch workload batches --out writes. "
          "Empty: those of the preset."));
}

void add_measuring(std::vector<Key>& table) {
  using C = Config;
  table.push_back(key("measure", "threads", &C::measure, &C::Measure::threads, between(1, 1024),
                      "Threads of LibTorch in a measured process."));
  table.push_back(key("measure", "warmup", &C::measure, &C::Measure::warmup, between(0, 10'000),
                      "Iterations that run first and are not counted."));
  table.push_back(key("measure", "iterations", &C::measure, &C::Measure::iterations,
                      between(1, 100'000), "Greatest number of iterations that are counted."));
  table.push_back(key("measure", "enough", &C::measure, &C::Measure::enough,
                      between(milliseconds(0), milliseconds(600'000)),
                      "A run may stop before its last iteration once this time is measured."));
  table.push_back(key("measure", "time_limit", &C::measure, &C::Measure::time_limit,
                      between(seconds(1), kDay), "Time limit of one run."));
  table.push_back(key("measure", "memory_limit", &C::measure, &C::Measure::memory_limit_bytes,
                      between(std::int64_t{0}, 1024 * 1024 * kGiB),
                      "Memory limit of one run, and of compiling a package. 0: no limit."));
  table.push_back(key("measure", "interleave", &C::measure, &C::Measure::interleave,
                      Allowed<bool>{},
                      "Interleave two live processes, one of each build, so that a disturbance of "
                      "the machine reaches both."));
  table.push_back(key("measure", "place_libraries", &C::measure, &C::Measure::place_libraries,
                      Allowed<bool>{},
                      "Give each run fresh copies of the library files, so that a file's place in "
                      "memory does not look like a change."));
  table.push_back(key("measure", "outputs", &C::measure, &C::Measure::outputs, Allowed<bool>{},
                      "Compare what workloads compute, too: a build whose outputs differ by more "
                      "than [detect] output_tolerance opens an incident of kind result."));
}

void add_judging(std::vector<Key>& table) {
  using C = Config;
  table.push_back(key("detect", "threshold", &C::detect, &C::Detect::threshold,
                      share_between(0.005, 2.0), "The size of change to find."));
  table.push_back(key("detect", "gate", &C::detect, &C::Detect::gate, share_between(0.004, 2.0),
                      "The estimate that counts as a change, at most the threshold. If not set, it "
                      "follows the threshold in proportion."));
  table.push_back(
      key("detect", "exact_threshold", &C::detect, &C::Detect::exact_threshold,
          share_between(0.001, 2.0),
          "The size of change to find in a peak that LibTorch's allocators count, where "
          "all runs of each build are equal to the byte. At most the threshold, to which "
          "it is lowered if not set."));
  table.push_back(key("detect", "exact_floor", &C::detect, &C::Detect::exact_floor_bytes,
                      between(std::int64_t{1}, kGiB),
                      "The least change of such a peak that counts."));
  table.push_back(key("detect", "output_tolerance", &C::detect, &C::Detect::output_tolerance,
                      share_between(1e-6, 2.0),
                      "How far outputs of two builds may differ, as a share of their size. 16-bit "
                      "types and tf32 may differ by eight units of their last place at least."));
  table.push_back(key("detect", "confidence", &C::detect, &C::Detect::confidence,
                      between(0.8, 0.9999), "Confidence of the intervals that are printed."));
  table.push_back(key("detect", "false_incidents_per_year", &C::detect,
                      &C::Detect::false_incidents_per_year, between(0.001, 1000.0),
                      "How many false incidents a year of nightly runs may cause."));
  table.push_back(
      key("detect", "thresholds", &C::detect, &C::Detect::thresholds,
          Allowed<std::vector<SeriesThreshold>>{
              "METRIC [WORKLOAD [CONFIGURATION]] SHARE, * for any, each once",
              is_distinct<SeriesThreshold>},
          "Thresholds for individual series; the gate scales with each. If several match, the last "
          "wins. Example: [\"time resnet18 0.1\"]"));
  table.push_back(key("detect", "drift_every", &C::detect, &C::Detect::drift_every, between(0, 365),
                      "After how many nightlies an older one is measured again, so that small "
                      "changes cannot add up unseen. 0: never."));
  table.push_back(key("detect", "drift_span", &C::detect, &C::Detect::drift_span, between(2, 365),
                      "How many nightlies back to compare with (fewer if fewer exist)."));
  table.push_back(
      key("detect", "drill_every", &C::detect, &C::Detect::drill_every, between(0, 365),
          "After how many nightlies a slowdown of twice the threshold is planted in one "
          "benchmark, which must be found. 0: never."));
  table.push_back(key("detect", "operators", &C::detect, &C::Detect::operators, Allowed<bool>{},
                      "Also look for single operators of LibTorch that got slower, in each nightly "
                      "and on CPUs: two more runs of every other benchmark or so. A change too "
                      "small to show in any workload becomes an incident of the operator, with a "
                      "search."));
  table.push_back(key("detect", "operator_threshold", &C::detect, &C::Detect::operator_threshold,
                      share_between(0.05, 2.0),
                      "The size of change of an operator's own time to find. Operators that take "
                      "1.5 % of an iteration or more are judged."));
  table.push_back(key("detect", "incident_traces", &C::detect, &C::Detect::incident_traces,
                      Allowed<bool>{},
                      "Make a trace of each build for an incident that is about time, and watch "
                      "which operators take more, once its comparison is measured."));
}

void add_searching(std::vector<Key>& table) {
  using C = Config;
  table.push_back(
      key("bisect", "confidence", &C::bisect, &C::Bisect::confidence, between(0.8, 0.9999),
          "The probability that a commit must reach before it is named as the culprit."));
  table.push_back(
      key("bisect", "builds_max", &C::bisect, &C::Bisect::builds_max, between(1, 10'000),
          "Greatest number of commits between the ends of one bisection that it builds, "
          "also in vain. Its ends and reverts are built besides."));
  table.push_back(
      key("bisect", "runs_max", &C::bisect, &C::Bisect::runs_max, between(1, 1'000'000),
          "Greatest number of runs that one bisection searches with. Those that measure "
          "a revert are made besides."));
  table.push_back(key("bisect", "cannot_change", &C::bisect, &C::Bisect::cannot_change,
                      distinct("path patterns, each once"),
                      "Paths that cannot change the library. Empty: docs, tests, Markdown, "
                      ".github."));
  table.push_back(key("bisect", "verify_by_revert", &C::bisect, &C::Bisect::verify_by_revert,
                      Allowed<bool>{}, "Also build the last commit with the culprit reverted."));
}

void add_sandbox(std::vector<Key>& table) {
  using C = Config;
  table.push_back(
      key("sandbox", "kind", &C::sandbox, &C::Sandbox::kind,
          words_of<SandboxKind>("auto, bubblewrap, none"),
          "What confines recipes, compilers and runs. auto: bubblewrap where it works, else "
          "nothing, with a warning. bubblewrap: do not start without it."));
  table.push_back(key("sandbox", "readable", &C::sandbox, &C::Sandbox::readable, paths(),
                      "What children may read besides the system and the builds that they work "
                      "with: tools outside /usr, what recipes need, where links of builds lead."));
  table.push_back(key("sandbox", "writable", &C::sandbox, &C::Sandbox::writable, paths(),
                      "Folders that recipes may write besides the checkout, the new build and the "
                      "compiler cache."));
  table.push_back(key("sandbox", "recipe_network", &C::sandbox, &C::Sandbox::recipe_network,
                      Allowed<bool>{}, "Whether recipes may use the network."));
  table.push_back(key("sandbox", "environment", &C::sandbox, &C::Sandbox::environment,
                      distinct("names of variables, each once"),
                      "Further variables of the service's environment that recipes see."));
}

std::vector<Key> make_table() {
  std::vector<Key> table;
  add_sources(table);
  add_builds(table);
  add_actions(table);
  add_suite(table);
  add_external(table);
  add_measuring(table);
  add_judging(table);
  add_searching(table);
  add_sandbox(table);
  add_service(table);
  add_slurm(table);
  add_web(table);
  add_oidc(table);
  add_reports(table);
  add_notices(table);
  add_upkeep(table);
  return table;
}

}  // namespace

const std::vector<Key>& key_table() {
  static const std::vector<Key> table = make_table();
  return table;
}

}  // namespace torchwatch::config
