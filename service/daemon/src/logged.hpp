#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "torchwatch/channel/channel.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/health/activity.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::daemon {

// The parts of the pipeline with a log around them: each passes every call on and records it.

/// Records stages and remarks, and remembers what is being done.
class LoggedProgress final : public comparison::Progress {
 public:
  /// What is passed must outlive the object.
  LoggedProgress(comparison::Progress& shown, log::Logger logger, health::Activity& activity)
      : shown_(shown), logger_(std::move(logger)), activity_(activity) {}

  void comparison_started(storage::Id) override;
  void comparison_ended() override;
  void phase_started(const std::string& what) override;
  void long_step_started(comparison::LongStep, const std::string& what) override;
  void progress(int done, int of, const std::string& detail) override;
  void log(const std::string& line) override;

 private:
  comparison::Progress& shown_;
  const log::Logger logger_;
  health::Activity& activity_;
};

/// Records each child's start and end. Arguments and environment are left out: they may hold a
/// secret.
class LoggedProcesses final : public process::ProcessRunner {
 public:
  LoggedProcesses(std::unique_ptr<process::ProcessRunner> processes, log::Logger logger)
      : processes_(std::move(processes)), logger_(std::move(logger)) {}

  process::ProcessOutcome run(const process::ProcessSpec&, std::stop_token stop) override;

 private:
  const std::unique_ptr<process::ProcessRunner> processes_;
  const log::Logger logger_;
};

/// Records each fetch. A fault that lasts is recorded when it begins, changes and ends, however
/// often it is looked at.
class LoggedChannel final : public channel::Channel {
 public:
  /// The activity must outlive the object.
  LoggedChannel(std::unique_ptr<channel::Channel> channel, log::Logger logger,
                health::Activity& activity)
      : channel_(std::move(channel)), logger_(std::move(logger)), activity_(activity) {}

  Result<std::vector<channel::Offer>> list(std::stop_token stop) override;
  Result<builds::Tree> fetch(const channel::Offer&, std::stop_token stop) override;
  std::string manner() const override { return channel_->manner(); }
  std::optional<std::size_t> at_first() const override { return channel_->at_first(); }

 private:
  /// Remembers what is wrong with a build, or with the list, which has no name. Returns whether
  /// that changed.
  bool note(const std::string& name, const std::string& fault);

  const std::unique_ptr<channel::Channel> channel_;
  const log::Logger logger_;
  health::Activity& activity_;
  std::mutex mutex_;
  std::map<std::string, std::string> faults_;
};

}  // namespace torchwatch::daemon
