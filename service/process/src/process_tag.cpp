#include "process_tag.hpp"

#include <fmt/format.h>

#include <charconv>

namespace torchwatch::process {

std::string to_string(const ProcessTag& tag) {
  return fmt::format("{:010}-{:020}-{:010}", tag.daemon, tag.daemon_start_ticks, tag.serial);
}

std::optional<ProcessTag> parse_process_tag(std::string_view text) {
  constexpr std::size_t kDaemonEnd = 10;
  constexpr std::size_t kStartEnd = 31;
  constexpr std::size_t kLength = 42;
  if (text.size() != kLength || text[kDaemonEnd] != '-' || text[kStartEnd] != '-') return {};
  ProcessTag tag;
  const char* const at = text.data();
  const bool is_tag =
      std::from_chars(at, at + kDaemonEnd, tag.daemon).ptr == at + kDaemonEnd &&
      std::from_chars(at + kDaemonEnd + 1, at + kStartEnd, tag.daemon_start_ticks).ptr ==
          at + kStartEnd &&
      std::from_chars(at + kStartEnd + 1, at + kLength, tag.serial).ptr == at + kLength;
  return is_tag ? std::optional(tag) : std::nullopt;
}

}  // namespace torchwatch::process
