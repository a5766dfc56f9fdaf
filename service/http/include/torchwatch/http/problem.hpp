#pragma once

#include <map>
#include <string>

#include "torchwatch/http/exchange.hpp"

namespace torchwatch::http {

/// Returns the HTTP status of an error code.
int status_of(ErrorCode);

/// Returns a status's reason phrase: "Not Found".
std::string title_of(int status);

/// Makes a reply of type application/problem+json (RFC 9457), with `remedy` as a member of its own.
/// `detail` and `remedy` may be any bytes; an empty remedy is null.
Reply problem(int status, const std::string& detail,
              std::map<std::string, std::string> headers = {}, const std::string& remedy = {});

/// Makes a problem of an error whose message clients may see.
Reply problem(int status, const Error&);

/// Makes a problem of an error, with its code's status. For codes whose messages may hold internals
/// (paths, SQL) it states a fixed sentence instead.
Reply problem(const Error&);

/// Returns whether the messages of this code are kept from clients and logged instead.
bool is_internal(ErrorCode);

}  // namespace torchwatch::http
