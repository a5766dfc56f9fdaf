#include "request_guard.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include "torchwatch/http/problem.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::http {
namespace {

constexpr std::size_t kPathBytesMax = 512;
constexpr std::array<std::string_view, 10> kLibraryMethods{
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "PRI"};

bool is_token(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

std::string only_value(const httplib::Request& request, const char* name) {
  return request.get_header_value_count(name) == 1 ? request.get_header_value(name) : "";
}

/// "[::1]:8420" -> "[::1]", "Localhost:1" -> "localhost"; "" if malformed.
std::string host_name(const std::string& host) {
  const auto colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  const auto port = colon == std::string::npos ? "" : host.substr(colon + 1);
  const bool has_port =
      std::all_of(port.begin(), port.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return has_port ? lower(host.substr(0, colon)) : "";
}

std::optional<std::size_t> parse_length(const std::string& text) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return length;
}

/// Refuses two lengths, a length with chunks, and other codings: one reader would take for the body
/// what another takes for the next request (request smuggling, RFC 9112 section 11.2).
std::optional<Reply> refusal_of_framing(const httplib::Request& request, std::size_t bytes_max) {
  const auto lengths = request.get_header_value_count("Content-Length");
  const auto codings = request.get_header_value_count("Transfer-Encoding");
  if (lengths + codings > 1) return problem(400, "the length of the body is stated twice");
  if (codings == 1 && (lower(request.get_header_value("Transfer-Encoding")) != "chunked" ||
                       request.version != "HTTP/1.1")) {
    return problem(400, "unsupported transfer coding: only chunked, with HTTP/1.1");
  }
  const bool needs_length =
      request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (needs_length && lengths + codings == 0) {
    return problem(411, "the length of the body must be stated");
  }
  if (lengths == 0) return std::nullopt;
  const auto length = parse_length(request.get_header_value("Content-Length"));
  if (!length) return problem(400, "invalid Content-Length: must be a number of bytes");
  if (*length <= bytes_max) return std::nullopt;
  return problem(413, "the body is too long: at most " + std::to_string(bytes_max) + " bytes");
}

}  // namespace

void disarm(httplib::Request& request) {
  for (const char* name : {"Content-Encoding", "Accept-Encoding", "Range", "If-Range"}) {
    request.headers.erase(name);
  }
  request.ranges.clear();
  // The library would read a form itself: into the query, and with a limit of its own.
  const auto types = request.headers.equal_range("Content-Type");
  for (auto type = types.first; type != types.second; ++type) type->second.insert(0, " ");
  std::erase_if(request.headers, [](const auto& header) {
    return header.second.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
  });
}

std::optional<Reply> refusal_of(const httplib::Request& request, const GuardRules& rules) {
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name)) return problem(400, "malformed header name");
  }
  if (auto refusal = refusal_of_framing(request, rules.body_bytes_max)) return refusal;
  if (request.path.size() > kPathBytesMax) return problem(414, "the path is too long");
  const auto host = host_name(only_value(request, "Host"));
  if (host.empty()) return problem(400, "exactly one Host header is required");
  if (!rules.hosts.empty() && std::ranges::find(rules.hosts, host) == rules.hosts.end()) {
    return problem(421, "this host name is not served", {}, "add it to [web] hosts");
  }
  return std::nullopt;
}

bool accepts_gzip(const httplib::Request& request) {
  const auto accepted = lower(only_value(request, "Accept-Encoding"));
  const auto at = accepted.find("gzip");
  if (at == std::string::npos) return false;
  const auto weight = accepted.substr(at, accepted.find(',', at) - at);
  return weight.find("q=0") == std::string::npos || weight.find("q=0.") != std::string::npos;
}

bool announces_body(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") ||
         (request.has_header("Content-Length") &&
          request.get_header_value("Content-Length") != "0");
}

std::optional<Request> asked_with_unknown_method(const httplib::Request& from) {
  const bool is_known = std::ranges::find(kLibraryMethods, from.method) != kLibraryMethods.end();
  const bool is_http = from.version == "HTTP/1.1" || from.version == "HTTP/1.0";
  if (is_known || !is_token(from.method) || !is_http) return std::nullopt;
  Request request;
  request.method = from.method;
  request.path = from.target.substr(0, from.target.find('?'));
  return request;
}

Request request_of(const httplib::Request& from, const Origin& origin) {
  Request request;
  request.peer = origin.user;
  request.is_local = origin.is_local;
  request.method = from.method == "HEAD" ? "GET" : from.method;
  request.path = from.path;
  request.query = from.params;
  request.remote_address = origin.address;
  request.authorization = only_value(from, "Authorization");
  if (from.has_header("Idempotency-Key")) {
    request.idempotency_key = only_value(from, "Idempotency-Key");
  }
  request.if_none_match = only_value(from, "If-None-Match");
  request.last_event_id = only_value(from, "Last-Event-ID");
  request.origin = only_value(from, "Origin");
  request.webhook = {.event = only_value(from, "X-GitHub-Event"),
                     .delivery = only_value(from, "X-GitHub-Delivery"),
                     .signature = only_value(from, "X-Hub-Signature-256")};
  request.cookie = only_value(from, "Cookie");
  request.host = lower(only_value(from, "Host"));
  request.is_https = origin.is_https;
  std::string type = only_value(from, "Content-Type");
  type.erase(0, type.find_first_not_of(' '));
  request.content_type = lower(type.substr(0, type.find_first_of("; \t")));
  request.body = from.body;
  if (request.content_type == kForm) httplib::detail::parse_query_text(from.body, request.form);
  return request;
}

}  // namespace torchwatch::http
