#include "everything_served.hpp"

#include <algorithm>
#include <deque>
#include <fstream>
#include <regex>
#include <set>

#include "page_checks.hpp"

using namespace torchwatch;

namespace {

constexpr std::size_t kAddressesMax = 3'000;

/// Whether an answer to it never ends.
bool is_stream(const std::string& address) {
  return address.starts_with("/api/v1/events") || address.starts_with("/events");
}

std::vector<std::string> described_addresses() {
  std::ifstream file(std::string(TORCHWATCH_SOURCE_DIR) + "/service/api/openapi.json");
  const auto description = nlohmann::json::parse(file);
  std::vector<std::string> all;
  for (const auto& [path, node] : description.at("paths").items()) {
    if (!node.contains("get") || is_stream(path)) continue;
    for (const std::string id : {"1", "2"}) {
      const auto address = std::regex_replace(path, std::regex("\\{id\\}"), id);
      if (address.find('{') == std::string::npos) all.push_back(address);
    }
  }
  return all;
}

std::vector<std::string> addresses_on(const std::string& page, const std::string& html) {
  auto all = links_of(page, html);
  std::ranges::copy(alternates_of(page, html), std::back_inserter(all));
  return all;
}

}  // namespace

Served everything_served(test::RunningService& service) {
  Served served;
  std::deque<std::string> waiting{"/",
                                  "/nothing",
                                  "/incidents/999",
                                  "/incidents/x",
                                  "/api/v1/incidents/999",
                                  "/api/v1/nothing",
                                  "/series?metric=beauty"};
  std::ranges::copy(described_addresses(), std::back_inserter(waiting));
  std::set<std::string> seen(waiting.begin(), waiting.end());
  for (; !waiting.empty(); waiting.pop_front()) {
    const auto& address = waiting.front();
    const auto answer = service.send("GET", address);
    const auto type = answer.headers.find("content-type");
    const auto kind = type == answer.headers.end() ? "" : type->second;
    ++served.content_types[kind.substr(0, kind.find(';'))];
    for (const auto& [name, value] : answer.headers) served.text += name + ": " + value + "\n";
    served.text += answer.body + "\n";
    const bool tells_of_faults = address == "/healthz";
    if (answer.status >= 500 && !tells_of_faults) served.failed.push_back(address);
    if (!kind.starts_with("text/html")) continue;
    for (auto& link : addresses_on(address, answer.body)) {
      const bool is_page = link.starts_with('/') && !is_stream(link);
      if (is_page && seen.size() < kAddressesMax && seen.insert(link).second) {
        waiting.push_back(std::move(link));
      }
    }
  }
  return served;
}
