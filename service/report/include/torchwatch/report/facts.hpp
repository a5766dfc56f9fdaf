#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/documents/bisection.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::report {

// What an issue says, gathered by the pipeline; rendering is pure.

struct BuildFacts {
  std::string name;
  std::string version;
  std::string trunk_commit;
  std::string content_hash;
};

struct CommitFacts {
  std::string sha;
  std::string subject;
  std::string author;
  std::string login;        ///< on GitHub, where the author's address there says it; else empty
  std::string author_date;  ///< ISO 8601, as in the commit
  std::vector<std::string> changed_paths;
};

/// The change of one series, with its evidence.
struct EffectFacts {
  Series series;
  double ratio = 0;  ///< candidate / baseline; 0 where there is none, as for a leak
  double interval_low = 0;
  double interval_high = 0;
  double baseline_value = 0;
  double candidate_value = 0;
  std::optional<double> difference;  ///< candidate - baseline, where neither value is known
  double baseline_spread = 0;        ///< robust sd of the runs' values over their centre
  double candidate_spread = 0;
  int runs = 0;
};

/// A commit that a bisection could not measure.
struct SkippedCommit {
  std::string sha;
  std::string reason;
};

/// One cause that a bisection found.
struct CulpritFacts {
  std::vector<CommitFacts> commits;  ///< several: they cannot be distinguished
  double confidence = 0;             ///< 0: not stated, as where the revert contradicts it
  std::vector<EffectFacts> effects;  ///< the last of them compared with the build before the first
  std::string verified;              ///< how, in words
  bisection::RevertOutcome revert = bisection::RevertOutcome::not_tried;
};

/// The confidence of the intervals that a bisection states, whatever [detect] confidence is.
inline constexpr double kBisectionIntervalConfidence = 0.99;

/// What a bisection found.
struct BisectionFacts {
  std::string good;
  std::string bad;
  std::vector<CulpritFacts> culprits;  ///< largest share of the change first
  std::vector<CommitFacts> suspects;   ///< the smallest set that holds a culprit not found
  double suspects_confidence = 0;
  int commits = 0;  ///< in the range
  int folded = 0;   ///< that cannot change the library
  int builds = 0;
  int made_elsewhere = 0;  ///< of the builds: by somebody else, not by the recipe
  int runs = 0;
  std::vector<SkippedCommit> skipped;
  std::string reason;              ///< why there is no culprit, or which budget ran out
  bool did_not_reproduce = false;  ///< the builds made here do not differ
};

/// What of the comparison did not change.
struct Unaffected {
  int series = 0;     ///< of the comparison, all together
  int unchanged = 0;  ///< of them
  int undecided = 0;
  /// Unchanged times of the same workloads in other configurations and variants.
  std::vector<Benchmark> related;
};

/// What an incident rests on, drawn.
struct Drawings {
  std::vector<std::string> texts = {};  ///< lines of text, what shows most first
  std::string picture = {};  ///< the address of them as a picture; empty: GitHub reaches none
};

/// A trace of one of the two builds.
struct TraceFacts {
  std::string side;     ///< "baseline", "candidate"
  std::string address;  ///< of its page
};

/// What the machine did beside the runs of the pass that found an incident.
struct Disturbance {
  int runs = 0;           ///< that stated it; 0: nothing is known
  double load_least = 0;  ///< load averages at the ends of runs, which count themselves
  double load_most = 0;
  std::optional<double> stolen;  ///< share of the processors' time that the host gave to others
  bool is_virtual = false;       ///< the processor names a hypervisor
};

struct IncidentFacts {
  std::string key;
  IncidentKind kind = IncidentKind::regression;
  std::string reason;               ///< of a lost benchmark: why its runs failed
  std::vector<std::string> output;  ///< likewise: the last lines that its process printed
  std::string comparison;           ///< its candidate's name
  BuildFacts baseline;
  BuildFacts candidate;
  /// How many nightlies before the candidate the baseline is; 0: it is the one before.
  int nightlies_back = 0;
  std::vector<EffectFacts> effects;
  std::vector<std::string> remarks;            ///< sentences on the comparison as a whole
  std::map<std::string, std::string> machine;  ///< the environment's facts
  Disturbance disturbance;
  std::optional<BisectionFacts> bisection;
  std::string reproduce;     ///< the command that repeats the comparison of the two builds
  std::string test_suspect;  ///< the command that measures the culprit against its parent
  std::string torchbench;    ///< the command that times the original; empty where there is none
  std::int64_t id = 0;       ///< the incident's; 0: it has none
  std::optional<Preset> preset;
  std::string commits_address;  ///< where commits are linked; empty: they are not
  std::string page;             ///< the address of the incident's page; empty: nobody reaches it
  std::vector<std::string> cc;  ///< who is mentioned, as the configuration names them
  Unaffected unaffected;
  Drawings drawings;
  std::vector<TraceFacts> traces;  ///< of what slowed down most; empty: nobody reaches any
  std::string operators;           ///< a sentence on what they take; empty: not watched
  double reproduce_seconds = 0;    ///< what the runs of `reproduce` took here; 0: not known
  std::string tally;               ///< a clause on how commits that were named before held
  double confidence = 0.99;        ///< of the intervals
};

}  // namespace torchwatch::report
