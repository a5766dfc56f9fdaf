#include "url.hpp"

#include <algorithm>

namespace torchwatch::platform {
namespace {

bool is_plain(char c) {
  return c > ' ' && c < '\x7f';
}

tl::unexpected<Error> bad(std::string_view text, const std::string& why) {
  return fail(ErrorCode::invalid, "URL '" + std::string(text) + "': " + why);
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    return bad("...", "spaces, control characters and non-ASCII letters must be percent-encoded");
  }
  const std::string_view whole = text.substr(0, text.find('#'));
  const auto scheme_end = whole.find("://");
  const std::string_view scheme = whole.substr(0, std::min(scheme_end, whole.size()));
  if (scheme_end == std::string_view::npos || (scheme != "http" && scheme != "https")) {
    return bad(text, "it must begin with http:// or https://");
  }
  const auto host_at = scheme_end + 3;
  const auto host_end = std::min(whole.find_first_of("/?", host_at), whole.size());
  const std::string_view host = whole.substr(host_at, host_end - host_at);
  if (host.find('@') != std::string_view::npos) {
    return bad("...@...", "user information is not taken; send an Authorization header");
  }
  if (host.empty() || host.front() == ':') return bad(text, "there is no host");
  Url url{.origin = std::string(whole.substr(0, host_end)),
          .target = std::string(whole.substr(host_end))};
  if (url.target.empty() || url.target.front() != '/') url.target.insert(0, "/");
  return url;
}

}  // namespace torchwatch::platform
