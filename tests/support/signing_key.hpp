#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace torchwatch::test {

/// An issuer's RSA key: what it signs with, and what it publishes.
class SigningKey {
 public:
  explicit SigningKey(std::string id, int bits = 2'048);
  ~SigningKey();
  SigningKey(const SigningKey&) = delete;
  SigningKey& operator=(const SigningKey&) = delete;

  /// A token with these claims. `header`: further members of its header.
  std::string sign(const nlohmann::json& claims, const nlohmann::json& header = {}) const;
  /// The same, signed with HS256, and the public key as the secret.
  std::string sign_with_public_key(const nlohmann::json& claims) const;
  /// The same with `alg` none and no signature.
  std::string leave_unsigned(const nlohmann::json& claims) const;

  /// The key as a member of a JSON web key set.
  nlohmann::json published() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// A JSON web key set of these keys.
std::string set_of(const std::vector<nlohmann::json>& keys);

}  // namespace torchwatch::test
