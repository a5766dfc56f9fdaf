#include <fmt/format.h>

#include <cctype>
#include <string>

#include "torchwatch/issues/issue.hpp"

namespace torchwatch::report {
namespace {

constexpr std::string_view kMarkerStart = "<!-- torchwatch-key: ";
constexpr std::string_view kMarkerEnd = " -->";

}  // namespace

std::string with_marker(const std::string& text, const std::string& outbox_key,
                        const std::string& secret) {
  return text + "\n" + marker(outbox_key + ":" + secret) + "\n";
}

std::optional<std::string> marker_in(std::string_view body) {
  while (body.ends_with('\n')) body.remove_suffix(1);
  const auto start = body.rfind(kMarkerStart);
  if (start == std::string_view::npos) return std::nullopt;
  const auto found = body.substr(start);
  const bool is_last = found.find(kMarkerEnd) == found.size() - kMarkerEnd.size();
  return is_last ? std::optional(std::string(found)) : std::nullopt;
}

std::string marker(const std::string& outbox_key) {
  // One spelling for each key, and none that could end the comment ("--", ">"): whatever is not
  // plainly harmless is written as %XX.
  std::string spelled;
  for (const char c : outbox_key) {
    const bool second_dash = c == '-' && spelled.ends_with('-');
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' ||
                       c == ':' || c == '/' || c == '-';
    if (plain && !second_dash) {
      spelled += c;
      continue;
    }
    spelled += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return std::string(kMarkerStart) + spelled + std::string(kMarkerEnd);
}

}  // namespace torchwatch::report
