#include "archive_names.hpp"

#include <algorithm>

namespace torchwatch::channel {
namespace {

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

/// Calls `visit` with each part between slashes; false when it said so.
template <typename Visit>
bool every_part(const std::string& name, Visit visit) {
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (!visit(name.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

std::string reason_against(const std::string& full_name, const ArchiveLimits& limits) {
  if (full_name.empty()) return "it has no name";
  if (full_name.find('\0') != std::string::npos) return "there is a zero byte in its name";
  if (full_name.find('\\') != std::string::npos) return "there is a backslash in its name";
  if (!std::ranges::all_of(full_name, is_printable)) {
    return "there is something else than printable ASCII in its name";
  }
  if (full_name.front() == '/') return "its path is absolute";
  // A folder's name ends with a slash.
  const std::string name =
      full_name.back() == '/' ? full_name.substr(0, full_name.size() - 1) : full_name;
  std::size_t depth = 0;
  std::string reason;
  every_part(name, [&](const std::string& part) {
    if (part.empty()) reason = "a part of its path is empty";
    if (part == "." || part == "..") reason = "its path has " + part + " in it";
    if (part.size() > limits.name_part_bytes_max) reason = "a part of its path is too long";
    if (++depth > limits.depth_max) reason = "it lies too deep";
    return reason.empty();
  });
  return reason;
}

bool SeenNames::add(const std::string& name) {
  std::string folded = name.ends_with('/') ? name.substr(0, name.size() - 1) : name;
  std::ranges::transform(folded, folded.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return folded_.insert(std::move(folded)).second;
}

}  // namespace torchwatch::channel
