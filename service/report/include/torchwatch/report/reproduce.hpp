#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchwatch/records/vocabulary.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/storage/study_store.hpp"

namespace torchwatch::report {

// Commands that a person pastes into a shell: words that are not plain are quoted.

/// Makes the command that compares two builds again on a series' benchmark, which takes minutes.
/// Builds are named as BUILD arguments are.
std::string compare_command(const std::string& baseline, const std::string& candidate,
                            const Series&, std::optional<Preset>);

/// Makes the command that compares two builds on the whole suite.
std::string compare_command(const std::string& baseline, const std::string& candidate);

/// Makes the command that compares both settings of a study again on one benchmark.
std::string study_command(const std::string& build, const storage::StudyRow&, const Benchmark&);

/// Returns the command that makes a trace of a benchmark with a build.
std::string profile_command(const std::string& build, const Benchmark&, std::optional<Preset>);

/// Makes TorchBench's own command for the benchmark's original; empty where it measures something
/// else: on a GPU the original's precision differs, other precisions are asked for otherwise.
/// `threads`: as the environment has them; may be empty.
std::string torchbench_command(const Benchmark&, const std::string& threads);

/// Makes the command of compare_command for the incident's largest effect, with the preset of its
/// comparison's plan; empty where the incident has no series.
std::string reproduce_command(const storage::IncidentRow&, const std::string& baseline,
                              const std::string& candidate, const std::string& plan_json);

/// What a person may want to do about an incident, and the command that does it.
struct Advice {
  std::string when;  ///< "It is intended"
  std::string command;
};

/// Returns what can be done about an incident in its state. `reproduce`: the command that shows it;
/// may be empty.
std::vector<Advice> advice_on(const storage::IncidentRow&, bool names_culprit,
                              const std::string& reproduce);

/// Makes the command that searches a range again for what changed one series.
std::string bisect_command(const std::string& good, const std::string& bad, const Series&,
                           std::optional<Preset>);

/// Makes the command that measures one build alone.
std::string measure_command(const std::string& build);

/// Makes the command that measures a suspect against its parent, which builds both.
std::string suspect_command(const std::string& sha, const Series&, std::optional<Preset>);

}  // namespace torchwatch::report
