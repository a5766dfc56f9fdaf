#pragma once

#include <set>
#include <string>

#include "torchwatch/channel/archive.hpp"

namespace torchwatch::channel {

/// Why a member of that name must not be unpacked; empty: it may.
std::string reason_against(const std::string& name, const ArchiveLimits&);

/// Names seen so far, by what a file system that ignores case makes of them.
class SeenNames {
 public:
  /// False: there was one like it.
  bool add(const std::string& name);

 private:
  std::set<std::string> folded_;
};

}  // namespace torchwatch::channel
