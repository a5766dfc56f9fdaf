#include "torchwatch/github/token_source.hpp"

#include "torchwatch/github/api_client.hpp"

namespace torchwatch::github {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kTimeLimit{30};

std::string text_of(const json& node, const char* member) {
  const auto found = node.find(member);
  return found != node.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_of(const json& node, const char* member) {
  const auto found = node.find(member);
  return found != node.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

bool Account::wrote(const json& item) const {
  const auto user = item.find("user");
  if (user == item.end() || !user->is_object()) return false;
  const bool is_bots = text_of(*user, "type") == "Bot";
  if (is_bots != is_bot) return false;
  if (login.empty()) return is_bot;
  // A user may be renamed, and somebody else may take the old name.
  if (id != 0) return number_of(*user, "id") == id;
  return text_of(*user, "login") == login;
}

GivenToken::GivenToken(platform::HttpClient& http, const platform::Clock& clock, std::string api,
                       std::string token)
    : http_(http), clock_(clock), api_(std::move(api)), token_(std::move(token)) {}

void GivenToken::set(std::string token) {
  const std::scoped_lock lock(mutex_);
  if (token == token_) return;
  token_ = std::move(token);
  account_.reset();
}

Delivered<std::string> GivenToken::token(std::stop_token) {
  const std::scoped_lock lock(mutex_);
  return token_;
}

bool GivenToken::renew(const std::string& refused) {
  // Somebody may have set another one since.
  const std::scoped_lock lock(mutex_);
  return token_ != refused;
}

Delivered<Account> GivenToken::account(std::stop_token stop) {
  std::string token;
  {
    const std::scoped_lock lock(mutex_);
    if (account_) return *account_;
    token = token_;
  }
  auto account = ask(token, std::move(stop));
  const std::scoped_lock lock(mutex_);
  if (account && token == token_) account_ = *account;
  return account;
}

Delivered<Account> GivenToken::ask(const std::string& token, std::stop_token stop) const {
  const auto client = ApiClient::create(http_, api_, kTimeLimit, std::move(stop));
  if (!client) return tl::unexpected(failure_of(client.error()));
  const auto response = client->send({.at = client->address("/user"), .token = token});
  if (!response) return tl::unexpected(response.error());
  // The token of an installation, made elsewhere, is of no user and may not ask for its App.
  const bool is_of_app =
      response->status == 403 && response->body.find("integration") != std::string::npos;
  if (is_of_app) return Account{.login = "", .id = 0, .is_bot = true};
  const auto user = object_of(*response, "GET /user", "", clock_.wall_now());
  if (!user) return tl::unexpected(user.error());
  Account account{.login = text_of(*user, "login"),
                  .id = number_of(*user, "id"),
                  .is_bot = text_of(*user, "type") == "Bot"};
  if (!account.login.empty() && account.id != 0) return account;
  return tl::unexpected(
      failure_of(Error{ErrorCode::corrupt, "GET /user: the answer lacks login or id"}));
}

}  // namespace torchwatch::github
