#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/config/config.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/records/vocabulary.hpp"

namespace torchwatch::nightly {

/// What a night measures, fixed when it becomes ready and stored with it, so that a restart after
/// a changed configuration goes on with the night that was begun.
struct Plan {
  Preset preset = Preset::small;
  std::vector<Cell> cells;
  std::vector<Pass> passes{Pass::timing, Pass::memory};
  int threads = 1;
  int warmup = 5;
  int iterations = 30;
  std::int64_t enough_ns = 500'000'000;
  std::int64_t time_limit_ms = 300'000;
  std::int64_t memory_limit_bytes = 0;
  bool take_turns = false;      ///< timing runs that are compared are alive at once
  bool finds_incidents = true;  ///< else verdicts only
  std::int64_t rechecks = 0;    ///< the open incident that is measured again; 0: none
  /// Cells of the night whose rule and error budget hold here; 0: this plan is by itself.
  int of_cells = 0;
  /// How many nightlies before the candidate the baseline is, where it is not the one before.
  int nightlies_back = 0;

  bool operator==(const Plan&) const = default;
};

/// The plan of `config` for those workloads and configurations, each in all variants of `config`.
Plan make_plan(const config::Config&, const std::vector<std::string>& workloads,
               const std::vector<Configuration>& configurations);

/// What one process of the plan is asked; the attempt is filled in by who starts it.
protocol::Request request_for(const Plan&, const Cell&, Pass);

/// Whether runs of `cell` that are compared take turns, sample by sample: on a CPU. A device would
/// have to hold both workloads.
bool takes_turns(const Plan&, const Cell&, Pass);

/// Names of the workloads of the plan's cells, each once, in order.
std::vector<std::string> workloads_of(const Plan&);

std::string to_json(const Plan&);
Result<Plan> parse_plan(std::string_view json);

}  // namespace torchwatch::nightly
