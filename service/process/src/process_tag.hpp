#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace torchwatch::process {

// Environment variables by which a child is recognised, also by a later daemon.
inline constexpr std::string_view kOwnerVariable = "TORCHWATCH_OWNER";
inline constexpr std::string_view kAttemptVariable = "TORCHWATCH_ATTEMPT";
inline constexpr std::string_view kRunVariable = "TORCHWATCH_RUN";

/// Which daemon runs a child, and which of its children it is. Written in fixed width: the size
/// of the environment shifts what is measured.
struct ProcessTag {
  pid_t daemon = 0;
  std::uint64_t daemon_start_ticks = 0;
  std::uint32_t serial = 0;
};

std::string to_string(const ProcessTag&);
/// Returns nothing if the text is not a tag.
std::optional<ProcessTag> parse_process_tag(std::string_view text);

}  // namespace torchwatch::process
