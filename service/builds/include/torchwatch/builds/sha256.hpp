#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "torchwatch/records/error.hpp"

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

namespace torchwatch::builds {

/// SHA-256 of bytes that arrive in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// Adds a piece whose end can be told from the next one's begin, as a name or a list member.
  void add_field(std::string_view bytes);
  /// The 32 bytes; the object starts over.
  std::string digest();
  /// The digest as 64 lower-case hex digits; the object starts over.
  std::string hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string sha256_hex(std::string_view bytes);

/// SHA-256 of a file's content, behind links, in hex. Errors: not_found, unavailable.
Result<std::string> sha256_of_file(const std::filesystem::path&);

}  // namespace torchwatch::builds
