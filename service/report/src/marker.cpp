#include <array>
#include <cctype>
#include <cstdio>

#include "torchwatch/report/issue.hpp"

namespace torchwatch::report {

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
    std::array<char, 4> hex{};
    std::snprintf(hex.data(), hex.size(), "%%%02X",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    spelled += hex.data();
  }
  return "<!-- torchwatch-key: " + spelled + " -->";
}

}  // namespace torchwatch::report
