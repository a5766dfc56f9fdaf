#pragma once

#include <sys/types.h>

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "torchwatch/health/report.hpp"
#include "torchwatch/report/culprit_tally.hpp"
#include "torchwatch/runs/drills.hpp"
#include "torchwatch/storage/daemon_store.hpp"
#include "torchwatch/storage/rows.hpp"
#include "torchwatch/terminal/comparison_text.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {

/// A comparison with the names of its builds.
struct NamedComparison {
  storage::ComparisonRow row = {};
  std::string candidate = {};
  std::string baseline = {};
  std::string result = {};  ///< "regressed", "measuring"
  std::size_t incidents = 0;
};

/// Who works on the database, and what is wrong.
struct ServiceNow {
  std::optional<pid_t> daemon = {};  ///< its process, 0 if that cannot be seen; nothing: none runs
  std::string not_asked = {};  ///< why the daemon cannot be asked; empty: it was, or none runs
  std::optional<std::string> writer = {};         ///< "4711 (torchwatch nightly)"
  std::optional<storage::DaemonTimes> last = {};  ///< of the last daemon
  health::Report report = {};
};

/// What has not ended and is not worked on.
struct Queue {
  std::size_t comparisons = 0;
  std::size_t requests = 0;
};

/// A job of the service in the queue of the cluster.
struct ClusterJob {
  std::string what = {};    ///< "lane 0", "build 1234abcd"
  std::string id = {};      ///< Slurm's number
  std::string state = {};   ///< Slurm's word
  std::string node = {};    ///< empty while it waits
  std::string reason = {};  ///< why it waits
};

/// What the service has in the cluster's queue.
struct ClusterNow {
  std::vector<ClusterJob> jobs = {};
  std::string problem = {};  ///< why the queue cannot be read; empty: it was
};

/// What a person asks who wants to know whether anything is wrong.
struct StatusFacts {
  storage::WallMillis now = 0;
  ServiceNow service = {};
  Queue queue = {};                            ///< without what was put off
  std::optional<ClusterNow> cluster = {};      ///< where runs take place there
  std::optional<ComparisonFacts> newest = {};  ///< the newest nightly's comparison
  std::optional<ComparisonFacts> judged = {};  ///< the newest with a result, if that is another
  std::vector<FoundIncident> open = {};        ///< incidents that are not closed
  std::vector<storage::BisectionRow> searches = {};
  std::vector<storage::SetbackRow> waiting = {};
  std::vector<storage::OutboxRow> unsent = {};
  std::optional<std::int64_t> newest_issue = {};
  std::optional<storage::WallMillis> last_delivery = {};  ///< to the tracker
  std::vector<NamedComparison> recent = {};
  std::vector<storage::BuildRow> left_out = {};  ///< of the newest nightlies
  std::vector<storage::SelfTestTally> self_tests = {};
  storage::DrillTally drills = {};
  report::CulpritTally culprits;
};

/// Returns whether something does not work, or waits for a daemon while nobody works.
bool is_impaired(const StatusFacts&);

/// Prints whether anything is wrong and what is done, then problems, the newest nightly, open
/// incidents, searches, what was put off, the outbox, recent comparisons, and the measured
/// false-alarm rate.
void print(std::ostream&, const StatusFacts&, const Screen&);

/// Says in one line whether anything is wrong and what is done, without how long that takes.
std::string brief(const StatusFacts&);

}  // namespace torchwatch::terminal
