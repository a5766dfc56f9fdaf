#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::http {

/// What the reception reads of a head, before the HTTP library parses it.
struct Head {
  std::string method;
  std::string target = {};    ///< what is asked for, as it was sent
  std::string path;           ///< the same without query
  std::string authorization;  ///< empty when absent or given more than once
  std::string forwarded_for;  ///< all values of X-Forwarded-For, joined by commas
  bool is_forwarded = false;  ///< a proxy says that it passed this on
  bool has_body = false;
  bool is_https = false;    ///< a proxy says so
  bool wants_page = false;  ///< takes HTML, as browsers do
};

/// Reads a head that HeadScanner has accepted.
Head read_head(std::string_view);

/// Who sent a request.
struct Origin {
  std::string address;        ///< over the Unix socket "uid 1000"
  bool is_local = false;      ///< sent on this machine, and by no proxy
  std::optional<uid_t> user;  ///< who is at the other end of the Unix socket
  bool is_https = false;      ///< to a trusted proxy
  bool wants_page = false;    ///< a browser
  std::string target = {};    ///< what it asks for, as it was sent
};

/// Finds out who sent a request that came from `peer`: behind a trusted proxy the last address of
/// X-Forwarded-For that is not another such proxy. Headers of anybody else are not believed.
Origin origin_of(const Origin& peer, const Head&, const std::vector<std::string>& trusted_proxies);

/// Returns an IP address in one spelling: ::ffff:192.0.2.1 as 192.0.2.1; "" for anything else.
std::string plain_address(const std::string&);

bool is_loopback(const std::string& plain_address);

/// Returns what limits count by: an IPv4 address, or the /64 network of an IPv6 address, which is
/// what one client has.
std::string counted_as(const std::string& plain_address);

}  // namespace torchwatch::http
