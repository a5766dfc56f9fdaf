#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "torchwatch/comparison/services.hpp"

namespace torchwatch::comparison {

/// Returns the [[suite.external]] of that name; null where there is none.
const config::ExternalWorkload* external_workload(const config::Config&, const std::string& name);

/// Returns whether a workload is measured in a configuration: an external one in those of its
/// device and modes, all others in all.
bool is_measured_in(const config::Config&, const std::string& workload, Configuration);

/// Returns the names with those of the external workloads behind them. Errors: invalid, when one of
/// them has the name of another workload.
Result<std::vector<std::string>> with_externals(const config::Config&,
                                                std::vector<std::string> names);

/// Adds the external workloads to a list of the suite (kits::read_suite).
void add_externals(nlohmann::json& suite, const config::Config&);

/// Returns what a run of an external workload starts.
executor::ExternalCommand command_of(const config::ExternalWorkload&);

/// Returns the hash of the command's words and of the files that it names. Runs of different
/// commands are not compared: it is the fact "workload" of the environment. Errors: unavailable.
Result<std::string> fingerprint(const config::ExternalWorkload&);

/// Runners of the suite with the external workloads, for which no kit is compiled. Both must
/// outlive this.
class SuiteRunners final : public RunnerSource {
 public:
  SuiteRunners(RunnerSource& kits, const config::Config& config) : kits_(kits), config_(config) {}

  /// A kit of external workloads alone has no runner.
  Result<kits::Kit> kit_for(const builds::Tree&, const std::vector<std::string>& workloads,
                            std::stop_token stop) override;
  Result<std::vector<std::string>> workloads() const override;

 private:
  RunnerSource& kits_;
  const config::Config& config_;
};

}  // namespace torchwatch::comparison
