#pragma once

#include <string>

#include "torchwatch/database/database.hpp"
#include "torchwatch/http/router.hpp"

namespace torchwatch::notify {

/// What the feed is made of; the database must outlive the route.
struct FeedSources {
  storage::Database& database;
  std::string public_address = {};  ///< empty: entries link relative to the feed
};

/// Makes the feed of the newest 50 incidents as Atom 1.0 (RFC 4287). It says only what a stranger
/// may see, and text of others stands in it as text. Errors: of storage.
Result<std::string> incident_feed(const FeedSources&);

/// The route of /incidents.atom, for who may read. Its handler is thread-safe.
http::Route feed_route(FeedSources);

}  // namespace torchwatch::notify
