#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/drawing/evidence.hpp"
#include "torchwatch/evidence/context.hpp"
#include "torchwatch/runs/class_values.hpp"

namespace torchwatch::evidence {

// One build on two machine classes, A and B, from runs that are stored: the same for the command,
// the API and the pages.

/// What a build takes on B, divided by what it takes on A.
struct ClassRatio {
  double ratio = 1;
  double low = 1;  ///< of the interval of 95 %; 0 to infinity where too few runs are known
  double high = 1;
};

/// A benchmark that ran on both.
struct OnBoth {
  Benchmark benchmark = {};
  double a = 0;  ///< median, in ns
  double b = 0;
  ClassRatio ratio = {};
  std::size_t runs_a = 0;
  std::size_t runs_b = 0;
};

struct SideBySide {
  std::vector<OnBoth> benchmarks = {};  ///< in the order of their ratios
  ClassRatio mean = {};                 ///< the geometric mean of them all
  std::vector<Benchmark> only_a = {};
  std::vector<Benchmark> only_b = {};
};

/// Compares the values of a build on two machine classes. Runs on two machines make no pairs, so
/// the intervals come from resampling the runs of each side by itself, and are as wide as runs
/// scatter. With fewer than three runs on a side there is no interval: it is infinite. Pure: equal
/// values give equal intervals.
SideBySide side_by_side(const std::vector<storage::ClassValues>& values, storage::Id a,
                        storage::Id b);

/// A build and the machine classes that it is compared on.
struct BuildOnTwo {
  storage::BuildRow build = {};
  storage::MachineClass a = {};
  storage::MachineClass b = {};
  SideBySide sides = {};
  std::string argument = {};  ///< by which commands find the build: its name, if that is enough
};

/// Compares the times of a build on two machine classes. Errors: of storage.
Result<BuildOnTwo> times_on(storage::Database&, storage::BuildRow, storage::MachineClass a,
                            storage::MachineClass b);

/// Which build and which classes are asked for, by their ids; 0: whatever there is.
struct AskedOnTwo {
  storage::Id build = 0;
  storage::Id a = 0;
  storage::Id b = 0;
};

/// Reads the ids that stand under "build", "a" and "b".
AskedOnTwo asked_on_two(const std::map<std::string, storage::Id>& ids);

/// Compares what is asked for. What is not named is the newest build that several classes measured,
/// and the first of these classes; nothing where there is none. Errors: not_found (the build, a
/// class), invalid (twice the same class), those of storage.
Result<std::optional<BuildOnTwo>> times_on(storage::Database&, const AskedOnTwo&);

/// Makes the document of docs/schemas/machine_comparison.json; with null for what there is not. The
/// name of a folder is null to who is not trusted.
nlohmann::json json_of(const std::optional<BuildOnTwo>&, bool is_trusted);

/// "-48.0 % [-50.1, -46.2]", of B against A.
std::string text_of(const ClassRatio&);

/// Says what there is beside the benchmarks: their geometric mean, what ran on one side alone, and
/// how far to trust it. One sentence each.
std::vector<std::string> sentences_on(const SideBySide&);

/// Makes the command that prints the same, for a shell.
std::string command_of(const BuildOnTwo&);

/// Returns B against A by benchmark, and their geometric mean. It judges nothing.
drawing::ForestPlot forest_of(const Context&, const BuildOnTwo&);

}  // namespace torchwatch::evidence
