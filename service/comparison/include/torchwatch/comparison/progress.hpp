#pragma once

#include <cstdint>
#include <string>

namespace torchwatch::comparison {

/// Steps of which one takes minutes or hours, and about as long as the last of its kind.
enum class LongStep { kit, build };

/// Receives the progress of the pipeline. Implementations are thread-safe and do not block.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Work on a comparison begins, or ends for now.
  virtual void comparison_started(std::int64_t /*id*/) {}
  virtual void comparison_ended() {}
  /// A stage or a long step begins: "preparing runners for 2026-08-17".
  virtual void phase_started(const std::string& what) = 0;
  /// A step begins that takes long, as others of its kind did. It ends with the next phase.
  virtual void long_step_started(LongStep, const std::string& what) { phase_started(what); }
  /// `done` of `of` parts of the step are done; `of` may grow and is 0 where unknown.
  virtual void progress(int done, int of, const std::string& detail) = 0;
  /// An event for the log: "commit 1234abcd does not build: recipe exited 125".
  virtual void log(const std::string& line) = 0;
};

/// Ignores the progress.
class Silence final : public Progress {
 public:
  void phase_started(const std::string&) override {}
  void progress(int, int, const std::string&) override {}
  void log(const std::string&) override {}
};

}  // namespace torchwatch::comparison
