#include "torchwatch/terminal/terminal_progress.hpp"

#include <fmt/format.h>

#include <ostream>

namespace torchwatch::terminal {
namespace {

constexpr int kBarWidth = 24;
constexpr std::size_t kDetailWidth = 60;

}  // namespace

TerminalProgress::TerminalProgress(std::ostream& err, bool is_terminal)
    : err_(err), is_terminal_(is_terminal), started_(clock_.monotonic_now()) {}

TerminalProgress::~TerminalProgress() {
  clear_bar();
}

std::string TerminalProgress::elapsed() const {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(clock_.monotonic_now() - started_).count();
  return fmt::format("{:3}:{:02}", seconds / 60, seconds % 60);
}

void TerminalProgress::clear_bar() {
  if (bar_shown_) err_ << "\r\033[K" << std::flush;
  bar_shown_ = false;
}

void TerminalProgress::print_line(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  clear_bar();
  err_ << elapsed() << "  " << line << std::endl;
}

void TerminalProgress::phase_started(const std::string& what) {
  print_line(what);
}

void TerminalProgress::progress(int done, int of, const std::string& detail) {
  if (!is_terminal_) return;
  const std::scoped_lock lock(mutex_);
  const int filled = of > 0 ? kBarWidth * done / of : 0;
  std::string bar(static_cast<std::size_t>(filled), '#');
  bar.resize(kBarWidth, '.');
  err_ << "\r\033[K" << elapsed() << "  [" << bar << "] " << done << "/" << of << "  "
       << detail.substr(0, kDetailWidth) << std::flush;
  bar_shown_ = true;
}

void TerminalProgress::log(const std::string& line) {
  print_line(line);
}

}  // namespace torchwatch::terminal
