#pragma once

#include <memory>

#include "torchwatch/channel/channel.hpp"
#include "torchwatch/comparison/services.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::daemon {

// The parts of the pipeline with a log around them: each passes every call on and records it.

/// Records stages and remarks.
class LoggedProgress final : public comparison::Progress {
 public:
  /// `shown` must outlive the object.
  LoggedProgress(comparison::Progress& shown, log::Logger logger)
      : shown_(shown), logger_(std::move(logger)) {}

  void phase_started(const std::string& what) override;
  void long_step_started(comparison::LongStep, const std::string& what) override;
  void progress(int done, int of, const std::string& detail) override;
  void log(const std::string& line) override;

 private:
  comparison::Progress& shown_;
  const log::Logger logger_;
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

/// Records each fetch.
class LoggedChannel final : public channel::Channel {
 public:
  LoggedChannel(std::unique_ptr<channel::Channel> channel, log::Logger logger)
      : channel_(std::move(channel)), logger_(std::move(logger)) {}

  Result<std::vector<std::string>> list(std::stop_token stop) override;
  Result<builds::Tree> fetch(const std::string& name, std::stop_token stop) override;

 private:
  const std::unique_ptr<channel::Channel> channel_;
  const log::Logger logger_;
};

}  // namespace torchwatch::daemon
