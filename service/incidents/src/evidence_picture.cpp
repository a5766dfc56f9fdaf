#include "torchwatch/incidents/evidence_picture.hpp"

#include "torchwatch/paging/paging.hpp"
#include "torchwatch/pictures/picture.hpp"
#include "torchwatch/storage/incident_store.hpp"

namespace torchwatch::pages {
namespace {

/// Reads ?v=; empty without it. Errors: invalid, for anything else.
Result<std::string> version_of(const http::Request& request) {
  std::string version;
  for (const auto& [name, value] : request.query) {
    if (name != "v") {
      return fail(ErrorCode::invalid, "unknown parameter \"" + name.substr(0, 100) +
                                          "\": a picture has only v, the hash of its content");
    }
    version = value;
  }
  return version;
}

}  // namespace

Result<http::Reply> get_evidence_picture(const http::Request& request, const Sources& sources) {
  TW_TRY(const auto version, version_of(request));
  TW_TRY(const auto id, http::id_of(request));
  TW_TRY(const auto incident, storage::IncidentStore(sources.database).get(id));
  const evidence::Context context{.database = sources.database,
                                  .confidence = sources.confidence,
                                  .threshold = sources.threshold,
                                  .exact_threshold = sources.exact_threshold,
                                  .threshold_of = sources.threshold_of};
  TW_TRY(const auto picture, pictures::picture_of(context, incident));
  if (!picture) {
    return fail(ErrorCode::not_found,
                "nothing is stored that could be drawn of incident " + std::to_string(id));
  }
  // A charset is not named: XML is UTF-8, and proxies of pictures compare the type as a whole.
  http::Reply reply{200, "image/svg+xml", picture->svg, {}};
  // Shared caches keep only what strangers may read, as the one who asks here may.
  const std::string kept = request.is_trusted ? "private" : "public";
  reply.headers = {
      {"Cache-Control",
       version == picture->version ? kept + ", max-age=31536000, immutable" : "no-cache"},
      // Its style sheet stands in it; opened alone it may do nothing else.
      {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"}};
  return reply;
}

}  // namespace torchwatch::pages
