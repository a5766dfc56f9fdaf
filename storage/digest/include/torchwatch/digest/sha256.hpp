#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace torchwatch::digest {

/// Computes the SHA-256 of bytes that arrive in pieces. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// Adds a piece with its length, so that "ab" + "c" and "a" + "bc" differ.
  void add_field(std::string_view bytes);
  /// Returns the 32 bytes; the object starts over.
  std::string digest();
  /// Returns the digest as 64 lower-case hex digits; the object starts over.
  std::string hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// Returns the SHA-256 of the bytes as 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace torchwatch::digest
