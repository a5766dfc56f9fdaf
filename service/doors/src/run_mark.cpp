#include "run_mark.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace torchwatch::doors {

std::string to_string(const RunMark& mark) {
  std::array<char, 64> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%010d-%020llu-%010u", mark.daemon,
                    static_cast<unsigned long long>(mark.daemon_start_ticks), mark.serial);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::optional<RunMark> parse_run_mark(std::string_view text) {
  constexpr std::size_t kDaemonEnd = 10;
  constexpr std::size_t kStartEnd = 31;
  constexpr std::size_t kLength = 42;
  if (text.size() != kLength || text[kDaemonEnd] != '-' || text[kStartEnd] != '-') return {};
  RunMark mark;
  const char* const at = text.data();
  const bool is_mark =
      std::from_chars(at, at + kDaemonEnd, mark.daemon).ptr == at + kDaemonEnd &&
      std::from_chars(at + kDaemonEnd + 1, at + kStartEnd, mark.daemon_start_ticks).ptr ==
          at + kStartEnd &&
      std::from_chars(at + kStartEnd + 1, at + kLength, mark.serial).ptr == at + kLength;
  return is_mark ? std::optional(mark) : std::nullopt;
}

}  // namespace torchwatch::doors
