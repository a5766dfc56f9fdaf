#include "cookie.hpp"

#include <string_view>

#include "torchwatch/records/hex.hpp"

namespace torchwatch::signin {
namespace {

constexpr std::size_t kIdDigits = 64;
constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

std::string cookie_name(const http::Request& request, bool is_https) {
  if (is_https) return "__Host-torchwatch";
  const auto colon = request.host.rfind(':');
  const bool has_port =
      colon != std::string::npos && request.host.find(']', colon) == std::string::npos;
  return "torchwatch" + (has_port ? "_" + request.host.substr(colon + 1) : std::string());
}

std::string id_in_cookie(const http::Request& request, bool is_https) {
  const auto name = cookie_name(request, is_https);
  std::string_view rest = request.cookie;
  std::string id;
  int found = 0;
  while (!rest.empty()) {
    const auto end = rest.find(';');
    const auto pair = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const auto equals = pair.find('=');
    if (trimmed(pair.substr(0, equals)) != name || equals == std::string_view::npos) continue;
    id = trimmed(pair.substr(equals + 1));
    ++found;
  }
  return found == 1 && is_hex(id, kIdDigits, kIdDigits) ? id : "";
}

std::string cookie_text(const http::Request& request, bool is_https, const std::string& id,
                        std::chrono::seconds left) {
  return cookie_name(request, is_https) + "=" + id +
         "; Path=/; Max-Age=" + std::to_string(left.count()) + "; HttpOnly; SameSite=Strict" +
         (is_https ? "; Secure" : "");
}

}  // namespace torchwatch::signin
