#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "torchwatch/comparison/progress.hpp"

namespace torchwatch::terminal {

/// What is being done at some moment, for whoever asks. Not thread-safe.
class ProgressState {
 public:
  void begin(const std::string& stage);
  void advance(int done, int of, const std::string& detail);
  /// Keeps the newest ones.
  void remember(const std::string& remark);
  /// Says it: the stage with what runs now, "measuring: 12/96, about 3 min left, resnet18
  /// cpu-train, timing, screen", then the last remarks, newest last. `left`: an estimate; may be
  /// empty.
  std::vector<std::string> lines(const std::string& left = "") const;

 private:
  std::string stage_;
  std::string part_;    ///< "resnet18 cpu-train, timing, screen"
  std::string amount_;  ///< "12/96"; empty while none is known
  std::deque<std::string> remarks_;
};

/// Shows nothing, and keeps the state for whoever asks. Thread-safe.
class UnshownProgress final : public comparison::Progress {
 public:
  void comparison_ended() override;
  void phase_started(const std::string& what) override;
  void progress(int done, int of, const std::string& detail) override;
  void log(const std::string& line) override;

  std::vector<std::string> state() const;

 private:
  mutable std::mutex mutex_;
  ProgressState state_;
};

}  // namespace torchwatch::terminal
