#pragma once

#include <string>
#include <vector>

#include "torchwatch/sandbox/sandbox.hpp"
#include "view.hpp"

namespace torchwatch::sandbox {

/// What bwrap is asked for, without its own name and the child's program. Pure.
struct Demand {
  View view;
  std::vector<std::filesystem::path> devices;  ///< besides null, zero, full, random, urandom, tty
  std::vector<std::filesystem::path> hidden;   ///< files that exist
  std::filesystem::path working_folder;
  bool has_network = false;
  std::int64_t tmp_limit_bytes = 0;
};
std::vector<std::string> arguments_for(const Demand&, const Variant&);

}  // namespace torchwatch::sandbox
