#include "torchwatch/platform/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "torchwatch/records/hex.hpp"

namespace torchwatch::platform {

std::string Random::token(std::size_t bytes) {
  std::string drawn;
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i % sizeof(word) == 0) word = next();
    drawn += static_cast<char>(word & 0xFFU);
    word >>= 8U;
  }
  return hex_of(drawn);
}

std::uint64_t SystemRandom::next() {
  std::uint64_t word = 0;
  ssize_t got = 0;
  do {
    got = getrandom(&word, sizeof(word), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(word))) {
    // Ids that are not random would let two attempts share a token.
    std::perror("torchwatch: getrandom");
    std::abort();
  }
  return word;
}

}  // namespace torchwatch::platform
