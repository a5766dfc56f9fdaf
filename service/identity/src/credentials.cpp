#include "torchwatch/identity/credentials.hpp"

#include "torchwatch/secrets/secrets.hpp"

namespace torchwatch::identity {
namespace {

Status check_kind(const config::Config::Github& github) {
  const bool has_token = !github.token_file.empty();
  const bool has_app = github.app_id != 0;
  if (has_app && has_token) {
    return fail(ErrorCode::invalid, "[github] has both token_file and app_id",
                "keep one of them: an App, or the token of an account");
  }
  if (has_app && github.app_key_file.empty()) {
    return fail(ErrorCode::invalid, "[github] app_id is set but app_key_file is not",
                "`torchwatch github setup` makes an App and stores its key");
  }
  if (has_app || has_token) return {};
  return fail(
      ErrorCode::invalid,
      "[github] repository is set, but neither token_file, a file with a token that may write "
      "issues, nor app_id with app_key_file",
      "set one of them; without [github] repository issues stay in the outbox");
}

}  // namespace

Result<std::unique_ptr<Credentials>> Credentials::open(
    const config::Config& config, platform::HttpClient& http, const platform::Clock& clock,
    std::function<void(const std::string&)> hide) {
  const auto& github = config.github;
  TW_TRY_VOID(check_kind(github));
  auto made = std::unique_ptr<Credentials>(new Credentials);
  made->hide_ = std::move(hide);
  if (github.app_id != 0) {
    auto app = std::make_shared<AppTokens>(http, clock,
                                           AppSettings{.app = github.app_id,
                                                       .key_file = github.app_key_file,
                                                       .installation = github.installation,
                                                       .repository = github.repository,
                                                       .api = github.api});
    made->app_ = app.get();
    made->tokens_ = std::move(app);
    return made;
  }
  auto given = std::make_shared<github::GivenToken>(http, clock, github.api, "");
  made->given_ = given.get();
  made->tokens_ = std::move(given);
  made->token_file_ = github.token_file;
  // A token that cannot be read now is waited for, like one that GitHub refuses.
  if (const auto read = made->refresh(); !read) return made;
  return made;
}

Result<int> Credentials::refresh() {
  const std::scoped_lock lock(mutex_);
  if (given_ == nullptr) return tokens_read_;
  TW_TRY(const auto now, secrets::read_secret(token_file_));
  if (now == last_) return tokens_read_;
  hide_(now);
  given_->set(now);
  last_ = now;
  return ++tokens_read_;
}

}  // namespace torchwatch::identity
