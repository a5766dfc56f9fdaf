#pragma once

#include <chrono>
#include <iosfwd>
#include <mutex>
#include <string>

#include "torchwatch/comparison/progress.hpp"
#include "torchwatch/platform/clock.hpp"

namespace torchwatch::terminal {

/// Shows how far long work is: a bar that is drawn over on a terminal, plain lines elsewhere.
/// Thread-safe: the API's threads note what went wrong there.
class TerminalProgress final : public comparison::Progress {
 public:
  /// `is_terminal`: whether `err` is one.
  TerminalProgress(std::ostream& err, bool is_terminal);
  ~TerminalProgress() override;

  void phase_started(const std::string& what) override;
  void progress(int done, int of, const std::string& detail) override;
  void log(const std::string& line) override;

 private:
  std::string elapsed() const;
  void clear_bar();
  void print_line(const std::string&);

  std::mutex mutex_;
  std::ostream& err_;
  bool is_terminal_;
  bool bar_shown_ = false;
  platform::SystemClock clock_;
  std::chrono::nanoseconds started_;
};

}  // namespace torchwatch::terminal
