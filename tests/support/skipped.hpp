#pragma once

#include <iostream>
#include <string>

namespace torchwatch::test {

/// Says why a case, or the rest of one, is left out on this machine: on a line of its own, which
/// tests/skipped.py lists at the end of tests/run. Of the reason only the first line is said.
inline void say_skipped(const std::string& reason) {
  std::cout << "skipped: " << reason.substr(0, reason.find('\n')) << std::endl;
}

}  // namespace torchwatch::test
