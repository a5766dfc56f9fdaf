#pragma once

#include <cstdint>
#include <string>

namespace torchwatch::platform {

/// Source of ids and of random order. Thread-safe.
class Random {
 public:
  virtual ~Random() = default;
  virtual std::uint64_t next() = 0;
  /// `bytes` random bytes as lower-case hex: attempt tokens, delivery keys.
  std::string token(std::size_t bytes = 16);
};

/// The kernel's generator (getrandom).
class SystemRandom final : public Random {
 public:
  std::uint64_t next() override;
};

}  // namespace torchwatch::platform
