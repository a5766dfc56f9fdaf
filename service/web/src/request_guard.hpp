#pragma once

#include <httplib.h>

#include <optional>
#include <string>
#include <vector>

#include "exchange.hpp"

namespace torchwatch::web {

/// What of a head is allowed, before anything is done for it. Pure.
struct GuardRules {
  std::vector<std::string> hosts;  ///< lower case, without port
  std::size_t body_bytes_max = 0;
};

/// Takes out of the head what the library would act upon against our will: Content-Encoding
/// (bodies are not expanded), Accept-Encoding, Range, and headers whose value holds a decoded CR,
/// LF or NUL.
void disarm(httplib::Request&);

/// Why the request is refused, if it is: framing that two readers could understand differently,
/// a Host that is not ours, a path or body that is too long.
std::optional<Reply> refusal_of(const httplib::Request&, const GuardRules&);

/// Whether a body follows the head.
bool announces_body(const httplib::Request&);

/// The API's view of the head (and of the body, where it was read).
Request request_of(const httplib::Request&);

}  // namespace torchwatch::web
