#pragma once

#include <stdexcept>
#include <string>

#include "item_errors.hpp"
#include "torchwatch/comparison/services.hpp"

namespace torchwatch::test {

enum class FaultStep { list, fetch, check_out, kit, run, throws };

/// Fails so often at one step, where it works on one build; the list concerns all builds.
struct PlantedFault {
  FaultStep step = FaultStep::fetch;
  ErrorCode code = ErrorCode::invalid;
  int times = 0;
  std::string build;  ///< part of the build's name or folder
  std::string message = "planted";

  Status meet(FaultStep at, const std::string& works_on) {
    const bool is_met = at == step && times > 0 && works_on.find(build) != std::string::npos;
    if (!is_met) return {};
    --times;
    if (step == FaultStep::throws) throw std::runtime_error("a bug");
    return fail(code, message);
  }
};

class FaultyChannel final : public channel::Channel {
 public:
  FaultyChannel(channel::Channel& real, PlantedFault& fault) : real_(real), fault_(fault) {}
  Result<std::vector<channel::Offer>> list(std::stop_token stop) override {
    TW_TRY_VOID(fault_.meet(FaultStep::list, fault_.build));
    return real_.list(stop);
  }
  Result<builds::Tree> fetch(const channel::Offer& offer, std::stop_token stop) override {
    TW_TRY_VOID(fault_.meet(FaultStep::fetch, offer.name));
    return real_.fetch(offer, stop);
  }
  std::string manner() const override { return real_.manner(); }
  std::optional<std::size_t> at_first() const override { return real_.at_first(); }

 private:
  channel::Channel& real_;
  PlantedFault& fault_;
};

class FaultyRunners final : public comparison::RunnerSource {
 public:
  FaultyRunners(comparison::RunnerSource& real, PlantedFault& fault) : real_(real), fault_(fault) {}
  Result<kits::Kit> kit_for(const builds::Tree& tree, const std::vector<std::string>& workloads,
                            std::stop_token stop) override {
    TW_TRY_VOID(fault_.meet(FaultStep::kit, tree.folder));
    TW_TRY_VOID(fault_.meet(FaultStep::throws, tree.folder));
    return real_.kit_for(tree, workloads, stop);
  }
  Result<std::vector<std::string>> workloads() const override { return real_.workloads(); }

 private:
  comparison::RunnerSource& real_;
  PlantedFault& fault_;
};

class FaultyExecutor final : public executor::Executor {
 public:
  FaultyExecutor(executor::Executor& real, PlantedFault& fault) : real_(real), fault_(fault) {}
  Result<executor::RunOutcome> run(const executor::RunSpec& spec, std::stop_token stop) override {
    TW_TRY_VOID(fault_.meet(FaultStep::run, spec.libraries));
    return real_.run(spec, stop);
  }
  Result<std::array<executor::RunOutcome, 2>> run_pair(std::array<executor::RunSpec, 2> specs,
                                                       std::stop_token stop) override {
    for (const auto& spec : specs) TW_TRY_VOID(fault_.meet(FaultStep::run, spec.libraries));
    return real_.run_pair(specs, stop);
  }

 private:
  executor::Executor& real_;
  PlantedFault& fault_;
};

/// The parts of a service with the fault in each, and a clock of the test's; all of them must
/// outlive what works with them.
struct FaultyParts {
  FaultyParts(comparison::Services& real, PlantedFault& fault, const platform::Clock& own_clock)
      : channel(real.channel, fault),
        runners(real.runners, fault),
        executor(real.executor, fault),
        services{.config = real.config,
                 .database = real.database,
                 .executor = executor,
                 .runners = runners,
                 .channel = channel,
                 .history = real.history,
                 .commits = real.commits,
                 .clock = own_clock,
                 .random = real.random,
                 .progress = real.progress,
                 .releases = real.releases,
                 .source = real.source,
                 .interrupts = real.interrupts} {}
  FaultyParts(const FaultyParts&) = delete;
  FaultyParts& operator=(const FaultyParts&) = delete;

  FaultyChannel channel;
  FaultyRunners runners;
  FaultyExecutor executor;
  comparison::Services services;
};

}  // namespace torchwatch::test
