// What a held node adds to a block of two interleaved pairs, beside the same on this machine, and
// what Slurm's controller is asked meanwhile. Runs inside a trial cluster, by a runner that
// measures nothing. `--help` lists the options.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <regex>

#include "command_line.hpp"
#include "processor_time.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "trial_cluster.hpp"

namespace {

using namespace torchwatch;
using namespace torchwatch::experiments;
using Clock = std::chrono::steady_clock;

struct Blocks {
  std::vector<double> here_ms;
  std::vector<double> there_ms;
  std::vector<double> added_ms;  ///< there, without the block beside it here
  double there_processor_s = 0;  ///< of this process, in all blocks there
};

Result<double> ms_of_block(executor::Executor& executor, const test::Trial& trial) {
  const auto begun = Clock::now();
  TW_TRY(const auto outcomes, executor.run_block({.runs = {trial.spec("a"), trial.spec("b"),
                                                           trial.spec("c"), trial.spec("d")},
                                                  .is_in_pairs = true},
                                                 {}));
  const std::chrono::duration<double, std::milli> took = Clock::now() - begun;
  for (const auto& outcome : outcomes) {
    if (const auto* failure = std::get_if<executor::RunFailure>(&outcome)) {
      return fail(ErrorCode::invalid, failure->reason + "\n" + failure->output);
    }
  }
  return took.count();
}

/// By turns, so that what disturbs the machine disturbs both.
Result<Blocks> measure_blocks(executor::Executor& here, executor::Executor& there,
                              const test::Trial& trial, int count) {
  Blocks blocks;
  for (int i = 0; i < count; ++i) {
    TW_TRY(const auto here_ms, ms_of_block(here, trial));
    const auto used_before = processor_seconds();
    TW_TRY(const auto there_ms, ms_of_block(there, trial));
    blocks.there_processor_s += processor_seconds() - used_before;
    blocks.here_ms.push_back(here_ms);
    blocks.there_ms.push_back(there_ms);
    blocks.added_ms.push_back(there_ms - here_ms);
  }
  return blocks;
}

/// How often the controller has been asked each thing, as sdiag tells it.
std::map<std::string, long> asked() {
  const auto text = test::said_by("sdiag");
  const auto begin = text.find("statistics by message type");
  const auto end = text.find("statistics by user", begin);
  const auto part = begin == std::string::npos ? "" : text.substr(begin, end - begin);
  static const std::regex line(R"((\w+)\s*\(\s*\d+\)\s*count:(\d+))");
  std::map<std::string, long> asked;
  for (std::sregex_iterator match(part.begin(), part.end(), line), last; match != last; ++match) {
    asked[(*match)[1]] = std::stol((*match)[2]);
  }
  return asked;
}

nlohmann::json added(const std::map<std::string, long>& before,
                     const std::map<std::string, long>& after) {
  auto more = nlohmann::json::object();
  for (const auto& [name, count] : after) {
    const auto known = before.find(name);
    const long added = count - (known == before.end() ? 0 : known->second);
    if (added > 0) more[name] = added;
  }
  return more;
}

nlohmann::json spread(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {{"median", at(0.5)}, {"tenth", at(0.1)}, {"ninth_tenth", at(0.9)}, {"most", at(1)}};
}

Result<nlohmann::json> measure(int count) {
  test::TrialOfTest trial;
  executor::LocalExecutor here(trial.processes(), trial.folder / "here", {});
  auto settings = trial.settings();
  settings.poll = cluster::SlurmExecutor::Settings{}.poll;
  cluster::SlurmExecutor there(trial.processes(), trial.clock(), settings);
  const auto held = Clock::now();
  TW_TRY_VOID(ms_of_block(there, trial));  // until a node is held
  const std::chrono::duration<double> waited = Clock::now() - held;
  const auto before = asked();
  TW_TRY(const auto blocks, measure_blocks(here, there, trial, count));
  return nlohmann::json{{"blocks", count},
                        {"until_held_s", waited.count()},
                        {"here_ms", spread(blocks.here_ms)},
                        {"there_ms", spread(blocks.there_ms)},
                        {"added_ms", spread(blocks.added_ms)},
                        {"processor_ms", 1e3 * blocks.there_processor_s / count},
                        {"controller_asked", added(before, asked())}};
}

}  // namespace

int main(int argc, char** argv) {
  int blocks = 100;
  CLI::App app("Milliseconds that a held node adds to a block; run it in deploy/cluster/trial");
  app.add_option("--blocks", blocks, "here and there, by turns")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  if (const auto ended = read_command_line(app, argc, argv)) return *ended;
  const auto measured = measure(blocks);
  if (!measured) {
    std::fprintf(stderr, "experiment_cluster_overhead: %s\n", measured.error().text().c_str());
    return 2;
  }
  std::printf("%s\n", measured->dump(2).c_str());
}
