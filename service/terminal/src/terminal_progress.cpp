#include "torchwatch/terminal/terminal_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "torchwatch/figures/figures.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {
namespace {

constexpr int kBarWidth = 24;
/// Below this a detail says more than a bar.
constexpr int kColumnsForBar = 72;
constexpr std::size_t kDetailMin = 8;
/// Lines that continue a long one stand below its text, behind "  3:12  ".
constexpr std::size_t kIndent = 8;
constexpr int kPartsForEstimate = 3;
constexpr auto kLineInterval = std::chrono::seconds(30);
/// A step that took less was found in a cache, and says nothing about the next.
constexpr auto kStepMin = std::chrono::seconds(2);

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Terminals show how much is done in their tab or the task bar (OSC 9;4).
std::string taskbar(const ProgressSettings& settings, int done, int of) {
  if (!settings.has_taskbar || of <= 0) return "";
  return "\033]9;4;1;" + std::to_string(100 * std::min(done, of) / of) + "\033\\";
}

std::string taskbar_end(const ProgressSettings& settings) {
  return settings.has_taskbar ? "\033]9;4;0;0\033\\" : "";
}

}  // namespace

Result<ProgressStyle> parse_progress_style(const std::string& word) {
  if (word == "auto") return ProgressStyle::automatic;
  if (word == "bar") return ProgressStyle::bar;
  if (word == "plain") return ProgressStyle::plain;
  if (word == "none") return ProgressStyle::none;
  return fail(ErrorCode::invalid,
              "invalid --progress \"" + word + "\": must be auto, bar, plain or none");
}

void Estimate::see(int done, std::chrono::nanoseconds at) {
  if (!seen_.empty() && seen_.back().done == done) return;
  seen_.push_back({done, at});
  // The first is the pace of all; of the others only the last ones matter.
  if (seen_.size() > kPartsForEstimate + 2) seen_.erase(seen_.begin() + 1);
}

std::string Estimate::left(int of) const {
  if (seen_.empty() || seen_.back().done - seen_.front().done < kPartsForEstimate) return "";
  const auto& last = seen_.back();
  const auto rest_at_pace_since = [&](const Seen& since) {
    return seconds(last.at - since.at) / (last.done - since.done) * std::max(0, of - last.done);
  };
  const double at_pace_of_all = rest_at_pace_since(seen_.front());
  const double at_pace_of_last = rest_at_pace_since(seen_[1]);
  return figures::duration_range(std::min(at_pace_of_all, at_pace_of_last),
                                 std::max(at_pace_of_all, at_pace_of_last)) +
         " left";
}

TerminalProgress::TerminalProgress(std::ostream& err, ProgressSettings settings,
                                   std::unique_ptr<platform::Clock> clock)
    : err_(err),
      settings_(std::move(settings)),
      clock_(clock ? std::move(clock) : std::make_unique<platform::SystemClock>()),
      started_(clock_->monotonic_now()),
      last_line_(started_) {
  if (settings_.style == ProgressStyle::plain) settings_.is_terminal = false;
  if (settings_.style == ProgressStyle::bar) settings_.is_terminal = true;
}

TerminalProgress::~TerminalProgress() {
  clear_bar();
}

std::string TerminalProgress::elapsed() const {
  const auto passed =
      std::chrono::duration_cast<std::chrono::seconds>(clock_->monotonic_now() - started_).count();
  return fmt::format("{:3}:{:02}", passed / 60, passed % 60);
}

void TerminalProgress::clear_bar() {
  if (bar_shown_) err_ << "\r\033[K" << taskbar_end(settings_) << std::flush;
  bar_shown_ = false;
}

void TerminalProgress::print_line(const std::string& line) {
  if (settings_.style == ProgressStyle::none) return;
  clear_bar();
  err_ << elapsed() << "  " << line << std::endl;
  last_line_ = clock_->monotonic_now();
}

/// A line that somebody asked for.
void TerminalProgress::print_asked(const std::string& line) {
  clear_bar();
  const int columns = settings_.is_terminal ? settings_.columns() : kColumnsMax;
  err_ << wrapped(elapsed() + "  " + line, columns, kIndent) << std::flush;
}

void TerminalProgress::begin_phase() {
  estimate_.begin();
  of_ = 0;
  if (!step_) return;
  const auto took = clock_->monotonic_now() - step_->started;
  if (took >= kStepMin) took_[step_->kind] = took;
  step_.reset();
}

void TerminalProgress::phase_started(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  begin_phase();
  state_.begin(what);
  print_line(what);
}

void TerminalProgress::long_step_started(comparison::LongStep kind, const std::string& what) {
  const std::scoped_lock lock(mutex_);
  begin_phase();
  state_.begin(what);
  const auto before = took_.find(kind);
  step_ = Step{kind, clock_->monotonic_now()};
  print_line(before == took_.end()
                 ? what
                 : what + " (the last took " + figures::duration(seconds(before->second)) + ")");
}

/// One line that is shorter than the terminal is wide: at the last column some of them wrap.
std::string TerminalProgress::bar(int done, int of, const std::string& detail) const {
  const int columns = settings_.columns();
  std::string text = elapsed() + "  ";
  if (columns >= kColumnsForBar) {
    const int filled = of > 0 ? kBarWidth * std::min(done, of) / of : 0;
    std::string marks(static_cast<std::size_t>(filled), '#');
    marks.resize(kBarWidth, '.');
    text += "[" + marks + "] ";
  }
  text += fmt::format("{}/{}", done, of);
  const auto left = estimate_.left(of);
  if (!left.empty()) text += "  " + left;
  const auto width = static_cast<std::size_t>(std::max(columns - 1, 1));
  if (width_of(text) + 2 + kDetailMin <= width) {
    text += "  " + elided(detail, width - width_of(text) - 2);
  }
  return elided(text, width);
}

void TerminalProgress::progress(int done, int of, const std::string& detail) {
  const std::scoped_lock lock(mutex_);
  const auto now = clock_->monotonic_now();
  estimate_.see(done, now);
  state_.advance(done, of, detail);
  of_ = of;
  if (settings_.style == ProgressStyle::none) return;
  if (settings_.is_terminal) {
    err_ << taskbar(settings_, done, of) << "\r\033[K" << bar(done, of, detail) << std::flush;
    bar_shown_ = true;
    return;
  }
  if (now - last_line_ < kLineInterval) return;
  const auto left = estimate_.left(of);
  print_line(fmt::format("{}/{}{}  {}", done, of, left.empty() ? "" : "  " + left, detail));
}

void TerminalProgress::log(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  state_.remember(line);
  print_line(line);
}

void TerminalProgress::say_state() {
  const std::scoped_lock lock(mutex_);
  for (const auto& line : state_.lines(estimate_.left(of_))) print_asked(line);
}

void TerminalProgress::say(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  print_asked(line);
}

}  // namespace torchwatch::terminal
