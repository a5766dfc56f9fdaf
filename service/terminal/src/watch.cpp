#include "torchwatch/terminal/watch.hpp"

#include <ostream>

namespace torchwatch::terminal {
namespace {

constexpr std::chrono::seconds kLookAgainAfter{2};

/// The first lines that a window holds, above the one with the cursor.
std::string as_much_as_fits(const std::string& text, int rows) {
  std::size_t end = 0;
  for (int row = 1; row < rows && end != std::string::npos; ++row) {
    end = text.find('\n', end);
    if (end != std::string::npos) ++end;
  }
  return text.substr(0, end);
}

}  // namespace

Status watch(std::ostream& out, const Screen& screen, const platform::Clock& clock,
             const std::function<Result<Sight>()>& look, std::stop_token stop) {
  std::string shown;
  while (!stop.stop_requested()) {
    TW_TRY(const auto sight, look());
    const auto& now = screen.is_terminal ? sight.text : sight.line;
    if (now != shown && screen.is_terminal) {
      out << redrawing(screen) << as_much_as_fits(now, screen.rows) << std::flush;
    } else if (now != shown) {
      out << platform::iso_utc(clock.wall_now()) << "  " << now << std::endl;
    }
    shown = now;
    clock.wait(kLookAgainAfter, stop);
  }
  return {};
}

}  // namespace torchwatch::terminal
