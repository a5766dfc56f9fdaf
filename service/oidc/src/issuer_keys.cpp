#include "torchwatch/oidc/issuer_keys.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "json_web_key.hpp"

namespace torchwatch::oidc {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

constexpr std::chrono::minutes kTryEvery{1};
constexpr std::chrono::hours kFetchEvery{1};
constexpr std::chrono::hours kKeptFor{24};  // without a word of the issuer
constexpr std::chrono::seconds kTimeLimit{10};
constexpr std::size_t kBytesMax = 256U << 10U;
constexpr std::string_view kDiscovery = "/.well-known/openid-configuration";

/// The host of an address, without a port; empty if somebody's name or password stands before it.
std::string_view host_of(std::string_view address) {
  const auto scheme = address.find("://");
  if (scheme == std::string_view::npos) return {};
  address.remove_prefix(scheme + 3);
  address = address.substr(0, address.find_first_of("/?#"));
  if (address.find('@') != std::string_view::npos) return {};
  if (address.starts_with('[')) return address.substr(0, address.find(']') + 1);
  return address.substr(0, address.find(':'));
}

std::string without_slash(std::string address) {
  while (address.ends_with('/')) address.pop_back();
  return address;
}

/// The address of the keys, from the issuer's discovery document.
Result<std::string> keys_address(const std::string& issuer, const std::string& document) {
  const auto object = json::parse(document, nullptr, false);
  const auto text = [&](const char* member) {
    const auto found = object.is_object() ? object.find(member) : object.end();
    const bool is_text = object.is_object() && found != object.end() && found->is_string();
    return is_text ? found->get<std::string>() : std::string();
  };
  if (text("issuer") != issuer) {
    return fail(ErrorCode::corrupt, "its discovery document is another issuer's");
  }
  auto address = text("jwks_uri");
  if (is_safe_address(address)) return address;
  return fail(ErrorCode::corrupt, "its keys lie neither at https nor on this machine");
}

}  // namespace

bool is_safe_address(const std::string& address) {
  const auto host = host_of(address);
  if (host.empty()) return false;
  constexpr std::array<std::string_view, 3> kLoopback{"127.0.0.1", "localhost", "[::1]"};
  const bool is_local = std::ranges::find(kLoopback, host) != kLoopback.end();
  return address.starts_with("https://") || (address.starts_with("http://") && is_local);
}

IssuerKeys::IssuerKeys(const std::vector<std::string>& issuers, platform::HttpClient& client,
                       const platform::Clock& clock)
    : client_(client), clock_(clock) {
  for (const auto& issuer : issuers) issuers_.try_emplace(issuer);
}

std::optional<std::string> IssuerKeys::find(const std::string& issuer, const std::string& key_id) {
  const std::scoped_lock lock(mutex_);
  const auto known = issuers_.find(issuer);
  if (known == issuers_.end()) return std::nullopt;
  auto& of = known->second;
  const bool is_old = !of.fetched_at || clock_.monotonic_now() - *of.fetched_at > kKeptFor;
  const auto key = of.keys.find(key_id);
  if (!is_old && key != of.keys.end()) return key->second;
  of.is_wanted = true;
  is_asked_ = true;
  asked_.notify_all();
  return std::nullopt;
}

nanoseconds IssuerKeys::due_in(const Issuer& issuer) const {
  if (!issuer.tried_at) return nanoseconds{0};
  const bool is_soon = issuer.is_wanted || !issuer.problem.empty();
  const nanoseconds pause = is_soon ? nanoseconds{kTryEvery} : nanoseconds{kFetchEvery};
  return *issuer.tried_at + pause - clock_.monotonic_now();
}

std::vector<std::string> IssuerKeys::due() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, issuer] : issuers_) {
    if (due_in(issuer) <= nanoseconds{0}) names.push_back(name);
  }
  return names;
}

Result<std::string> IssuerKeys::get(const std::string& address, const std::stop_token& stop) {
  platform::HttpRequest request;
  request.url = address;
  request.headers = {{"Accept", "application/json"}};
  request.time_limit = kTimeLimit;
  request.response_bytes_max = kBytesMax;
  request.stop = stop;
  TW_TRY(auto answer, client_.send(request));
  if (answer.status == 200) return std::move(answer.body);
  return fail(ErrorCode::unavailable, address + " answers " + std::to_string(answer.status));
}

Result<std::map<std::string, std::string>> IssuerKeys::fetch(const std::string& issuer,
                                                             const std::stop_token& stop) {
  TW_TRY(const auto document, get(without_slash(issuer) + std::string(kDiscovery), stop));
  TW_TRY(const auto address, keys_address(issuer, document));
  TW_TRY(const auto set, get(address, stop));
  return keys_of_set(set);
}

void IssuerKeys::store(const std::string& name,
                       Result<std::map<std::string, std::string>> fetched) {
  const std::scoped_lock lock(mutex_);
  auto& issuer = issuers_.at(name);
  issuer.tried_at = clock_.monotonic_now();
  issuer.is_wanted = false;
  if (fetched) {
    issuer.keys = *std::move(fetched);
    issuer.fetched_at = issuer.tried_at;
    issuer.problem.clear();
    return;
  }
  issuer.problem = "the keys of " + name + " cannot be fetched: " + fetched.error().text();
}

std::string IssuerKeys::refresh(std::stop_token stop) {
  for (const auto& name : due()) {
    auto fetched = fetch(name, stop);
    if (stop.stop_requested()) break;
    store(name, std::move(fetched));
  }
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, issuer] : issuers_) {
    if (!issuer.problem.empty()) return issuer.problem;
  }
  return {};
}

void IssuerKeys::wait(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  nanoseconds pause = kFetchEvery;
  for (const auto& [name, issuer] : issuers_) pause = std::min(pause, due_in(issuer));
  asked_.wait_for(lock, stop, std::max(pause, nanoseconds{0}),
                  [this] { return std::exchange(is_asked_, false); });
}

}  // namespace torchwatch::oidc
