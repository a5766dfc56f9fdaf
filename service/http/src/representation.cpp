#include "representation.hpp"

#include <zlib.h>

#include <algorithm>

#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/http/problem.hpp"

namespace torchwatch::http {
namespace {

/// Smaller answers fit one packet anyway.
constexpr std::size_t kGzipFrom = 1400;
/// Measured time counts here: the first levels take most of what there is to take.
constexpr int kGzipLevel = 3;
constexpr int kGzipWindowBits = 15 + 16;  // of zlib: the largest window, and a gzip header
constexpr int kGzipMemoryLevel = 8;

bool is_allowed(const std::string& origin, const std::vector<std::string>& origins) {
  return std::ranges::find(origins, origin) != origins.end();
}

void allow_origin(const Request& request, Reply& reply, const std::vector<std::string>& origins) {
  if (origins.empty()) return;
  reply.headers.emplace("Vary", "Origin");
  if (!is_allowed(request.origin, origins)) return;
  reply.headers.emplace("Access-Control-Allow-Origin", request.origin);
  reply.headers.emplace("Access-Control-Expose-Headers", "ETag, Retry-After, Location");
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
  if (!request.accepts_gzip || reply.body.size() < kGzipFrom) return;
  auto compressed = gzip(reply.body);
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
  tag(request, reply);
  compress(request, reply);
  return reply;
}

Reply answer_preflight(const Request& request, const std::vector<std::string>& origins) {
  if (!is_allowed(request.origin, origins)) {
    return problem(403, "pages of this origin may not read the API; add it to [web] cors_origins");
  }
  Reply reply{.status = 204, .content_type = {}, .body = {}, .headers = {}};
  allow_origin(request, reply, origins);
  reply.headers.emplace("Access-Control-Allow-Methods", "GET, HEAD");
  reply.headers.emplace("Access-Control-Allow-Headers", "Authorization, If-None-Match");
  reply.headers.emplace("Access-Control-Max-Age", "600");
  return reply;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, kGzipLevel, Z_DEFLATED, kGzipWindowBits, kGzipMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  std::string out(deflateBound(&stream, text.size()), '\0');
  // zlib's interface takes what it only reads as not constant.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(is_whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

}  // namespace torchwatch::http
