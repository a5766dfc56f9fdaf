#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "torchwatch/config/config.hpp"
#include "torchwatch/identity/app_tokens.hpp"

namespace torchwatch::identity {

/// What [github] says about who torchwatch is: an App, or the token in a file. Keep one for the
/// life of a process. Thread-safe.
class Credentials {
 public:
  /// `hide` gets each token that is read from a file before it is used, for the log to hide it.
  /// Errors: invalid, where [github] names both kinds, or half of one, or none.
  static Result<std::unique_ptr<Credentials>> open(const config::Config&, platform::HttpClient&,
                                                   const platform::Clock&,
                                                   std::function<void(const std::string&)> hide);

  /// Gives every request its token.
  const std::shared_ptr<github::TokenSource>& tokens() const { return tokens_; }
  /// The App's; null where there is only a token.
  AppTokens* app() const { return app_; }
  /// Reads the token file anew: somebody who replaces an expired token need not restart the
  /// service. Returns how many tokens it has read so far: another number says that there is another
  /// one. An App's key is read whenever it is used.
  /// Errors: those of secrets::read_secret.
  Result<int> refresh();

 private:
  Credentials() = default;

  std::shared_ptr<github::TokenSource> tokens_;
  AppTokens* app_ = nullptr;
  github::GivenToken* given_ = nullptr;
  std::filesystem::path token_file_;
  std::function<void(const std::string&)> hide_;
  std::mutex mutex_;
  std::string last_;
  int tokens_read_ = 0;
};

}  // namespace torchwatch::identity
