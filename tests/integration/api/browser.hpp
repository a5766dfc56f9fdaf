#pragma once

#include <map>
#include <string>

#include "api_fixture.hpp"

/// A browser on another machine: it keeps its cookie, sends forms, and follows nothing by itself.
struct Browser {
  using Fields = std::map<std::string, std::string>;

  explicit Browser(Api& service, Api::Headers sends = {})
      : api(service), always(std::move(sends)), origin(service.url("")) {
    always.emplace("X-Forwarded-For", "198.51.100.1");
    always.emplace("Accept", "text/html");
  }

  Api::Answer get(const std::string& path);
  /// Sends a form, with our Origin and with the key of the page that was shown last.
  Api::Answer post(const std::string& path, Fields fields);
  /// Signs in and keeps the cookie.
  Api::Answer sign_in(const std::string& token, const std::string& to = "");

  Api& api;
  Api::Headers always;
  std::string origin;  ///< empty: the form has none
  std::string cookie;  ///< "name=id"
  std::string key;     ///< of the last page's forms
};

/// Returns the id in a cookie.
inline std::string id_in(const std::string& cookie) {
  return cookie.substr(cookie.find('=') + 1);
}
