#include "plain_reply.hpp"

#include "torchwatch/http/problem.hpp"

namespace torchwatch::http {

const std::multimap<std::string, std::string>& default_headers() {
  static const std::multimap<std::string, std::string> headers{
      {"Cache-Control", "no-store"},
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
       "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Content-Type-Options", "nosniff"}};
  return headers;
}

std::string plain_reply(const Reply& reply, const std::map<std::string, std::string>& further) {
  std::string text =
      "HTTP/1.1 " + std::to_string(reply.status) + " " + title_of(reply.status) + "\r\n";
  const auto add = [&text](const std::string& name, const std::string& value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  for (const auto& [name, value] : default_headers()) {
    if (!reply.headers.contains(name)) add(name, value);
  }
  for (const auto& [name, value] : reply.headers) add(name, value);
  for (const auto& [name, value] : further) add(name, value);
  add("Content-Type", reply.content_type);
  add("Content-Length", std::to_string(reply.body.size()));
  return text + "\r\n" + reply.body;
}

}  // namespace torchwatch::http
