#pragma once

#include <string>

namespace torchwatch::test {

/// A new RSA key of 2,048 bits, as PEM.
struct RsaKey {
  std::string secret;
  std::string open;
};
RsaKey make_rsa_key();

}  // namespace torchwatch::test
