#include "browser.hpp"

#include <regex>

#include "torchwatch/paging/paging.hpp"

Api::Answer Browser::get(const std::string& path) {
  api.clock.advance(std::chrono::seconds(10));  // a page is kept for a while
  auto headers = always;
  if (!cookie.empty()) headers["Cookie"] = cookie;
  auto answer = api.send("GET", path, "", headers);
  static const std::regex kKey("name=\"key\" value=\"([0-9a-f]*)\"");
  std::smatch found;
  if (std::regex_search(answer.text, found, kKey)) key = found[1];
  return answer;
}

Api::Answer Browser::post(const std::string& path, Fields fields) {
  if (!key.empty()) fields.emplace("key", key);
  std::string body;
  for (const auto& [name, value] : fields) {
    body += (body.empty() ? "" : "&") + name + "=" + torchwatch::http::percent_encoded(value);
  }
  auto headers = always;
  headers["Content-Type"] = "application/x-www-form-urlencoded";
  if (!cookie.empty()) headers["Cookie"] = cookie;
  if (!origin.empty()) headers["Origin"] = origin;
  return api.send("POST", path, body, headers);
}

Api::Answer Browser::sign_in(const std::string& token, const std::string& to) {
  auto answer = post("/sign-in", {{"token", token}, {"to", to}});
  const auto given = answer.headers.find("set-cookie");
  if (given != answer.headers.end()) cookie = given->second.substr(0, given->second.find(';'));
  return answer;
}
