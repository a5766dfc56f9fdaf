#include "torchwatch/signin/own_origin.hpp"

#include <algorithm>
#include <cctype>

namespace torchwatch::signin {
namespace {

constexpr std::string_view kHttps = "https://";

/// "https://Perf.example:8443/x" -> "https://perf.example:8443".
std::string origin_in(const std::string& address) {
  const auto host = address.find("://");
  if (host == std::string::npos) return "";
  auto origin = address.substr(0, address.find('/', host + 3));
  std::ranges::transform(origin, origin.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return origin;
}

}  // namespace

bool is_https(const http::Request& request, const std::string& public_address) {
  if (request.is_https) return true;
  const auto origin = origin_in(public_address);
  if (!origin.starts_with(kHttps)) return false;
  const auto host = origin.substr(kHttps.size());
  // A proxy may leave the port out, or not.
  return request.host == host || request.host == host.substr(0, host.find(':'));
}

bool is_own_origin(const http::Request& request, const std::string& public_address) {
  if (request.origin.empty() || request.host.empty()) return false;
  const auto asked = (is_https(request, public_address) ? "https://" : "http://") + request.host;
  const auto known = origin_in(public_address);
  return request.origin == asked || request.origin == known;
}

}  // namespace torchwatch::signin
