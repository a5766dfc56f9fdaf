#pragma once

#include <map>
#include <string>
#include <vector>

#include "head.hpp"
#include "torchwatch/http/server.hpp"

namespace torchwatch::http {

/// Makes of what a handler answered what the client gets: an ETag for what it read, 304 where it
/// has that already, gzip where it takes it and it is worth it, and leave for a page of one of the
/// `origins` to read the answer.
Reply represent(const Request&, Reply, const std::vector<std::string>& origins);

/// Answers a browser that asks whether a page may send a request (CORS): only reading, with a
/// token. Errors as a reply: 403, where the page's origin is not one of `origins`.
Reply answer_preflight(const Request&, const std::vector<std::string>& origins);

/// Answers as the asker can show it: a problem becomes a page where a browser asks for one of those
/// paths that people read.
Reply shown_to(const Origin&, Reply, const decltype(ServerSettings::page_of)&);

/// The headers that every answer has, unless its reply has them.
const std::multimap<std::string, std::string>& default_headers();

/// Writes an answer as it is sent, without the HTTP library, with further headers. For what the
/// reception answers by itself.
std::string plain_reply(const Reply&, const std::map<std::string, std::string>& further);

}  // namespace torchwatch::http
