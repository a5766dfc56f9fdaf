#pragma once

#include <httplib.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "head.hpp"
#include "torchwatch/http/exchange.hpp"

namespace torchwatch::http {

/// The type of what a form of a page sends.
inline constexpr std::string_view kForm = "application/x-www-form-urlencoded";

/// What a head may say.
struct GuardRules {
  std::vector<std::string> hosts;  ///< lower case, without port; empty: any
  std::size_t body_bytes_max = 0;
};

/// Removes the headers that the library would act upon and this server does not support
/// (Content-Encoding, Accept-Encoding, Range), and those whose value holds CR, LF or NUL.
void disarm(httplib::Request&);

/// Returns the refusal of a request with ambiguous framing, an unknown Host, or a path or body that
/// is too long; nothing if the head is fine.
std::optional<Reply> refusal_of(const httplib::Request&, const GuardRules&);

/// Returns whether a body follows the head.
bool announces_body(const httplib::Request&);

/// Returns whether the client takes gzip: "gzip, br", not "gzip;q=0".
bool accepts_gzip(const httplib::Request&);

/// Returns the method and path of a request whose head the library did not read because it knows
/// no such method; nothing if anything else is wrong with it.
std::optional<Request> asked_with_unknown_method(const httplib::Request&);

/// Converts a request to what handlers see; the body is empty until it was read.
Request request_of(const httplib::Request&, const Origin&);

}  // namespace torchwatch::http
