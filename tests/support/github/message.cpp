#include "message.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

namespace torchwatch::test {
namespace {

using nlohmann::json;

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  std::istringstream stream(path);
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  return parts;
}

std::optional<std::vector<std::string>> match(const std::string& path, const std::string& pattern) {
  const auto given = split(path);
  const auto wanted = split(pattern);
  if (given.size() != wanted.size()) return {};
  std::vector<std::string> stars;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (wanted[i] == "*") stars.push_back(given[i]);
    if (wanted[i] != "*" && wanted[i] != given[i]) return {};
  }
  return stars;
}

}  // namespace

std::string GithubRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string GithubRequest::parameter(const std::string& name, const std::string& otherwise) const {
  const auto found = query.find(name);
  return found == query.end() ? otherwise : found->second;
}

int GithubRequest::number(const std::string& name, int otherwise) const {
  return std::stoi(parameter(name, std::to_string(otherwise)));
}

json GithubRequest::content() const {
  return json::parse(body, nullptr, false);
}

GithubAnswer refusal(int status, const std::string& message) {
  return {.status = status,
          .body = {{"message", message},
                   {"documentation_url", "https://docs.github.com/rest"},
                   {"status", std::to_string(status)}}};
}

GithubAnswer page_of(const json& all, const GithubRequest& request, const std::string& below,
                     const std::string& origin) {
  const int per_page = request.number("per_page", 30);
  const int page = request.number("page", 1);
  const int first = (page - 1) * per_page;
  const int size = static_cast<int>(all.size());
  GithubAnswer answer{.status = 200, .body = json::array()};
  for (int i = first; i < std::min(first + per_page, size); ++i) {
    answer.body.push_back(all[static_cast<std::size_t>(i)]);
  }
  if (first + per_page >= size) return answer;
  std::string query;
  for (const auto& [name, value] : request.query) {
    if (name != "page") query += name + "=" + value + "&";
  }
  const std::string url = origin + "/repositories/1" + below + "?" + query + "page=";
  answer.headers.emplace("Link", "<" + url + std::to_string(page + 1) + ">; rel=\"next\", <" + url +
                                     "99>; rel=\"last\"");
  return answer;
}

std::vector<std::string> parts_of(const std::string& path, const std::string& pattern) {
  return match(path, pattern).value_or(std::vector<std::string>{});
}

bool fits(const std::string& path, const std::string& pattern) {
  return match(path, pattern).has_value();
}

}  // namespace torchwatch::test
