#include "torchwatch/github/web_address.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace torchwatch::github {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_host_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
}

/// 127.a.b.c in digits: names (also "127.evil.example") are not addresses.
bool is_loopback(std::string_view host) {
  if (host == "[::1]") return true;
  return host.starts_with("127.") && std::count(host.begin(), host.end(), '.') == 3 &&
         host.back() != '.' && host.find("..") == std::string_view::npos &&
         std::all_of(host.begin(), host.end(), [](char c) { return is_digit(c) || c == '.'; });
}

bool is_host(std::string_view host) {
  if (host == "[::1]") return true;
  return !host.empty() && std::all_of(host.begin(), host.end(), is_host_character);
}

Result<int> parse_port(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port < 1 || port > 65535) {
    return fail(ErrorCode::invalid,
                "invalid port \"" + std::string(text) + "\": must be 1 to 65535");
  }
  return port;
}

Status split_authority(std::string_view authority, WebAddress& address) {
  const auto bracket = authority.find(']');
  const auto colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  address.port = address.scheme == "https" ? 443 : 80;
  if (colon != std::string_view::npos) {
    TW_TRY(address.port, parse_port(authority.substr(colon + 1)));
  }
  address.host = authority.substr(0, colon);
  std::transform(address.host.begin(), address.host.end(), address.host.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!is_host(address.host)) {
    return fail(ErrorCode::invalid, "invalid host \"" + address.host +
                                        "\": must be a host name, an IPv4 address or [::1]");
  }
  return {};
}

bool is_target(std::string_view target) {
  return target.starts_with('/') &&
         std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

Result<WebAddress> parse(std::string_view url) {
  WebAddress address;
  const auto colon = url.find("://");
  address.scheme = url.substr(0, colon);
  if (colon == std::string_view::npos || (address.scheme != "https" && address.scheme != "http")) {
    return fail(ErrorCode::invalid, "must begin with https://");
  }
  url.remove_prefix(colon + 3);
  const auto slash = url.find_first_of("/?#");
  TW_TRY_VOID(split_authority(url.substr(0, slash), address));
  address.target = slash == std::string_view::npos ? "/" : std::string(url.substr(slash));
  if (!is_target(address.target)) {
    return fail(ErrorCode::invalid, "invalid path: must begin with / and hold no blanks");
  }
  if (address.scheme == "http" && !is_loopback(address.host)) {
    return fail(ErrorCode::invalid, "plain http is only allowed to a loopback address",
                "use https://");
  }
  return address;
}

}  // namespace

bool WebAddress::has_origin_of(const WebAddress& other) const {
  return scheme == other.scheme && host == other.host && port == other.port;
}

std::string WebAddress::text() const {
  return scheme + "://" + host + ":" + std::to_string(port) + target;
}

Result<WebAddress> parse_address(std::string_view url) {
  auto address = parse(url);
  if (!address) return fail(address.error().within("url " + std::string(url.substr(0, 200))));
  return address;
}

Result<WebAddress> resolve(const WebAddress& base, std::string_view location) {
  const bool is_path = location.starts_with('/') && !location.starts_with("//");
  if (!is_path) return parse_address(location);
  WebAddress address = base;
  address.target = location;
  return parse_address(address.text());
}

}  // namespace torchwatch::github
