#include "torchwatch/report/unread.hpp"

namespace torchwatch::report {

std::string Unread::text() const {
  std::string named;
  for (const auto& part : parts_) {
    if (!named.empty()) named += &part == &parts_.back() ? " and " : ", ";
    named += part;
  }
  return named.empty() ? named : named + " cannot be read: if that lasts, restore a backup";
}

}  // namespace torchwatch::report
