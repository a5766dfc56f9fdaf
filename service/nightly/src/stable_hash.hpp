#pragma once

#include <cstdint>
#include <string_view>

namespace torchwatch::nightly {

/// FNV-1a: the same on every machine and in every process, which std::hash is not. Stored keys
/// and the order of blocks rest on it.
constexpr std::uint64_t stable_hash(std::string_view text, std::uint64_t seed = 0) {
  std::uint64_t hash = 14695981039346656037ULL ^ seed;
  for (const char character : text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 1099511628211ULL;
  }
  return hash;
}

}  // namespace torchwatch::nightly
