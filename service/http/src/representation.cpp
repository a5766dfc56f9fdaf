#include "representation.hpp"

#include <algorithm>

#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/http/problem.hpp"
#include "torchwatch/platform/gzip.hpp"

namespace torchwatch::http {
namespace {

/// Smaller answers fit one packet anyway.
constexpr std::size_t kGzipFrom = 1400;

bool is_allowed(const std::string& origin, const std::vector<std::string>& origins) {
  return std::ranges::find(origins, origin) != origins.end();
}

void allow_origin(const Request& request, Reply& reply, const std::vector<std::string>& origins) {
  if (origins.empty()) return;
  reply.headers.emplace("Vary", "Origin");
  if (!is_allowed(request.origin, origins)) return;
  reply.headers.emplace("Access-Control-Allow-Origin", request.origin);
  reply.headers.emplace("Access-Control-Expose-Headers", "ETag, Link, Retry-After, Location");
}

/// What a client has is good again if nothing changed; what it may not see it must not keep.
void tag(const Request& request, Reply& reply) {
  if (request.method != "GET" || reply.status != 200) return;
  const auto made = "\"" + digest::sha256_hex(reply.body) + "\"";
  const auto& own = reply.headers.emplace("ETag", made).first->second;
  reply.headers.emplace("Cache-Control", "private, no-cache");
  // The header may list several tags, each with W/ before it: ours is long enough to be searched.
  if (request.if_none_match.find(own) == std::string::npos) return;
  reply.status = 304;
  reply.body.clear();
}

void compress(const Request& request, Reply& reply) {
  const bool is_compressed = reply.headers.contains("Content-Encoding");
  if (!request.accepts_gzip || is_compressed || reply.body.size() < kGzipFrom) return;
  constexpr int kFastest = 1;  // somebody waits for the answer
  auto compressed = platform::gzip(reply.body, kFastest);
  if (compressed.empty() || compressed.size() >= reply.body.size()) return;
  reply.body = std::move(compressed);
  reply.headers.emplace("Content-Encoding", "gzip");
  auto& vary = reply.headers["Vary"];
  vary += std::string(vary.empty() ? "" : ", ") + "Accept-Encoding";
  const auto own = reply.headers.find("ETag");
  // Other bytes with the same meaning: a weak tag says so.
  if (own != reply.headers.end() && own->second.starts_with('"')) own->second.insert(0, "W/");
}

}  // namespace

Reply represent(const Request& request, Reply reply, const std::vector<std::string>& origins) {
  allow_origin(request, reply, origins);
  if (reply.takes_over) return reply;
  tag(request, reply);
  compress(request, reply);
  return reply;
}

Reply answer_preflight(const Request& request, const std::vector<std::string>& origins) {
  if (!is_allowed(request.origin, origins)) {
    return problem(403, "pages of this origin may not read the API", {},
                   "add it to [web] cors_origins");
  }
  Reply reply{.status = 204, .content_type = {}, .body = {}, .headers = {}};
  allow_origin(request, reply, origins);
  reply.headers.emplace("Access-Control-Allow-Methods", "GET, HEAD");
  reply.headers.emplace("Access-Control-Allow-Headers",
                        "Authorization, If-None-Match, Last-Event-ID");
  reply.headers.emplace("Access-Control-Max-Age", "600");
  return reply;
}

Reply shown_to(const Origin& asker, Reply reply, const decltype(ServerSettings::page_of)& page_of) {
  const bool is_problem = reply.content_type == "application/problem+json" &&
                          !reply.headers.contains("Content-Encoding");
  if (!is_problem || !asker.wants_page || !page_of) return reply;
  auto page = page_of(reply, asker.target);
  if (!page) return reply;
  page->headers.merge(reply.headers);
  return std::move(*page);
}

const std::multimap<std::string, std::string>& default_headers() {
  static const std::multimap<std::string, std::string> headers{
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
       "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"}};
  return headers;
}

std::string plain_reply(const Reply& reply, const std::map<std::string, std::string>& further) {
  std::string text =
      "HTTP/1.1 " + std::to_string(reply.status) + " " + title_of(reply.status) + "\r\n";
  const auto add = [&text](const std::string& name, const std::string& value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  for (const auto& [name, value] : default_headers()) {
    if (!reply.headers.contains(name)) add(name, value);
  }
  for (const auto& [name, value] : reply.headers) add(name, value);
  for (const auto& [name, value] : further) add(name, value);
  add("Content-Type", reply.content_type);
  add("Content-Length", std::to_string(reply.body.size()));
  return text + "\r\n" + reply.body;
}

}  // namespace torchwatch::http
