#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/scope.hpp"
#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::http {

/// What GitHub says of a webhook's delivery; each is empty when absent or given more than once.
struct WebhookHead {
  std::string event;
  std::string delivery;
  std::string signature;  ///< "sha256=" and hex digits
};

/// What a browser may do that is signed in.
struct SignedIn {
  Scopes scopes;         ///< of the token that it signed in with
  std::string form_key;  ///< what its forms send back
};

/// A request as handlers see it: instead of raw headers the few that they use, checked.
struct Request {
  std::string method;  ///< HEAD has become GET
  std::string path;    ///< percent-decoded, without query
  std::multimap<std::string, std::string> query;
  std::string remote_address;  ///< over the Unix socket "uid 1000"
  bool is_local = false;       ///< sent on this machine, and by no proxy
  bool is_trusted = false;     ///< local, or with a right token: may see paths and errors' texts
  std::optional<uid_t> peer;   ///< the user who sent it over the Unix socket
  std::string token_name;      ///< of the token that it came with; empty without a right one
  std::string authorization;   ///< empty when absent or given more than once
  std::optional<std::string> idempotency_key;  ///< empty when given more than once
  std::string if_none_match;
  std::string last_event_id;
  std::string origin;  ///< of the page that asks, as a browser says it; empty: no page
  bool accepts_gzip = false;
  std::string content_type;  ///< without parameters, lower case
  WebhookHead webhook;
  std::string body;
  std::multimap<std::string, std::string> form;  ///< the fields of a body that is a form
  std::string cookie;                 ///< the header; empty when absent or given more than once
  std::string host;                   ///< with its port, lower case
  bool is_https = false;              ///< so a trusted proxy says
  std::optional<SignedIn> signed_in;  ///< on pages alone
  std::map<std::string, std::string> path_parameters;  ///< filled in by the router: "id" of /{id}
};

/// An answer. Its headers replace the server's defaults of the same name.
struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::map<std::string, std::string> headers;
  /// A wrong token was in the form: it counts as one in a header does.
  bool has_wrong_token = false;
  /// Given, the answer has no end and no body: after its head the connection is handed over, with
  /// what of the head the client has not taken yet. It takes none of the server's places then.
  std::function<void(UniqueFd, std::string unsent)> takes_over{};
};

}  // namespace torchwatch::http
