#include "torchwatch/identity/app_jwt.hpp"

#include <jwt.h>

#include <cstdlib>
#include <memory>

namespace torchwatch::identity {
namespace {

constexpr std::chrono::seconds kBack{60};
constexpr std::chrono::seconds kAhead{9 * 60};

struct Free {
  void operator()(jwt_t* token) const { jwt_free(token); }
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

Result<std::string> make_app_jwt(const std::string& key, std::int64_t app,
                                 std::chrono::seconds now) {
  jwt_t* made = nullptr;
  if (jwt_new(&made) != 0) return fail(ErrorCode::internal, "cannot make a JSON web token");
  const std::unique_ptr<jwt_t, Free> token(made);
  const bool is_complete =
      jwt_set_alg(token.get(), JWT_ALG_RS256, reinterpret_cast<const unsigned char*>(key.c_str()),
                  static_cast<int>(key.size())) == 0 &&
      jwt_add_grant_int(token.get(), "iat", (now - kBack).count()) == 0 &&
      jwt_add_grant_int(token.get(), "exp", (now + kAhead).count()) == 0 &&
      jwt_add_grant(token.get(), "iss", std::to_string(app).c_str()) == 0;
  const std::unique_ptr<char, Free> text(is_complete ? jwt_encode_str(token.get()) : nullptr);
  if (text) return std::string(text.get());
  return fail(ErrorCode::invalid, "the App's key cannot sign: it is not a private RSA key in PEM",
              "make a new private key in the App's settings at GitHub");
}

}  // namespace torchwatch::identity
