#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "torchwatch/comparison/progress.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/terminal/progress_state.hpp"

namespace torchwatch::terminal {

enum class ProgressStyle {
  automatic,  ///< a bar on a terminal, lines elsewhere
  bar,        ///< a bar, wherever it goes
  plain,      ///< lines: one for each stage, and one every half minute
  none,
};
/// Reads "auto", "bar", "plain" or "none". Errors: invalid.
Result<ProgressStyle> parse_progress_style(const std::string&);

struct ProgressSettings {
  ProgressStyle style = ProgressStyle::automatic;
  bool is_terminal = false;
  bool has_taskbar = false;                          ///< as terminal::Screen has it
  std::function<int()> columns = [] { return 80; };  ///< asked anew for each line
};

/// Estimates how long the rest of equal parts takes, from the parts that are done.
class Estimate {
 public:
  void begin() { seen_.clear(); }
  void see(int done, std::chrono::nanoseconds at);
  /// "about 3 to 5 min left": the rest at the pace of all parts and at that of the last ones. Empty
  /// before three parts are done.
  std::string left(int of) const;

 private:
  struct Seen {
    int done = 0;
    std::chrono::nanoseconds at{0};
  };
  std::deque<Seen> seen_;
};

/// Shows how far long work is: a bar of one line that is drawn over on a terminal, plain lines
/// elsewhere. Thread-safe: the API's threads note what went wrong there.
class TerminalProgress final : public comparison::Progress {
 public:
  TerminalProgress(std::ostream& err, ProgressSettings settings,
                   std::unique_ptr<platform::Clock> clock = nullptr);
  ~TerminalProgress() override;

  void phase_started(const std::string& what) override;
  void long_step_started(comparison::LongStep kind, const std::string& what) override;
  void progress(int done, int of, const std::string& detail) override;
  void log(const std::string& line) override;

  /// Prints what is being done, whatever the style is.
  void say_state();
  /// Prints a line, whatever the style is.
  void say(const std::string& line);

 private:
  struct Step {
    comparison::LongStep kind;
    std::chrono::nanoseconds started;
  };

  std::string elapsed() const;
  void clear_bar();
  void print_line(const std::string&);
  void print_asked(const std::string&);
  void begin_phase();
  std::string bar(int done, int of, const std::string& detail) const;

  std::mutex mutex_;
  std::ostream& err_;
  ProgressSettings settings_;
  std::unique_ptr<platform::Clock> clock_;
  std::chrono::nanoseconds started_;
  std::chrono::nanoseconds last_line_;
  bool bar_shown_ = false;
  Estimate estimate_;
  ProgressState state_;
  int of_ = 0;  ///< how many parts the step has
  std::optional<Step> step_;
  std::map<comparison::LongStep, std::chrono::nanoseconds> took_;  ///< the last of each kind
};

}  // namespace torchwatch::terminal
