#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "api_fixture.hpp"
#include "torchwatch/access/token_store.hpp"
#include "torchwatch/storage/comparison_store.hpp"
#include "torchwatch/storage/incident_store.hpp"
#include "torchwatch/tracker/mute_store.hpp"

using namespace torchwatch;
using storage::Id;
using Operation = test::ApiDescription::Operation;

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string with_id(std::string path, Id id = 1) {
  const bool names_model =
      path.find("workloads") != std::string::npos || path.find("models") != std::string::npos;
  const std::map<std::string, std::string> values{
      {"{id}", std::to_string(id)},
      {"{name}", names_model ? "resnet18" : "2.14.0.dev20260817"},
      {"{pair}", "2.14.0.dev20260816...2.14.0.dev20260817"},
      {"{workload}", "resnet18"},
      {"{configuration}", "cpu-train"},
      {"{variant}", "default"},
      {"{metric}", "time"}};
  for (const auto& [parameter, value] : values) {
    const auto at = path.find(parameter);
    if (at != std::string::npos) path.replace(at, parameter.size(), value);
  }
  return path;
}

/// Whether the route serves another form of a page; the page describes it.
bool is_twin(std::string_view path) {
  const bool is_json = path.ends_with(".json") && !path.ends_with("openapi.json");
  return is_json || path.ends_with(".md") || path.ends_with(".csv");
}

/// A body that the operation accepts.
std::string body_for(const std::string& path) {
  if (path.ends_with("/bisections")) return R"({"good": "a", "bad": "b"})";
  if (path.ends_with("/outbox/retry")) return R"({"key": "open:abc"})";
  if (path.ends_with("/tokens")) {
    return R"({"name": "ci", "scopes": "read", "sha256": ")" + std::string(64, 'a') + R"("})";
  }
  if (path.ends_with("/builds")) return R"({"name": "2.13.0"})";
  if (path.ends_with("/comparisons")) return R"({"candidate": "a", "baseline": "b"})";
  if (path.ends_with("/measurements")) return R"({"candidate": "a", "passes": ["coverage"]})";
  if (path.ends_with("/reopen")) return R"({"by": "ada"})";
  if (path.ends_with("/accept") || path.ends_with("/dispute")) {
    return R"({"by": "ada", "reason": "the price"})";
  }
  return "{}";
}

/// Asks as the operation wants it.
Api::Answer answer_to(Api& api, const Operation& operation, const std::string& path,
                      const std::string& body) {
  if (operation.method == "get") return api.get(path);
  return operation.method == "delete" ? api.remove(path) : api.post(path, body);
}

/// The words that a parameter of a query may have; none where any text may stand.
std::vector<std::string> words_of(const nlohmann::json& parameter, const nlohmann::json& document) {
  const bool has_schema = parameter.value("in", "") == "query" && parameter.contains("schema");
  if (!has_schema) return {};
  const auto name = parameter.at("schema").value("$ref", "");
  if (name.empty()) return {};
  const auto& schema = document.at(nlohmann::json::json_pointer(name.substr(1)));
  return schema.value("enum", std::vector<std::string>());
}

/// Whether it names nothing that there is, or is not allowed: what is right may name nothing, too.
bool is_refused(int status) {
  return status == 400 || status == 404;
}

/// Whether it has no end, or needs a signature: other tests are about those.
bool is_special(const std::string& path) {
  return path.ends_with("/events") || path == "/api/v1/webhooks/github";
}

/// Whether the operation, of no item, is done when it is answered.
bool is_done_at_once(const std::string& path) {
  return path.ends_with("/outbox/retry") || path.ends_with("/backup") || path.ends_with("/check");
}

/// Makes what the operation changes, and returns its id.
Id target_of(Api& api, const std::string& path) {
  if (path.find("/incidents/") != std::string::npos) {
    const auto id = api.add_incident(path);
    if (path.ends_with("/reopen")) {
      REQUIRE(storage::IncidentStore(*api.database).close(id, {"ada", "", 1}));
    }
    return id;
  }
  for (const auto* of_first : {"/bisections/", "/builds/"}) {
    if (path.find(of_first) != std::string::npos) return 1;
  }
  if (path.find("/requests/") != std::string::npos) {
    return api.post("/api/v1/nightlies", "{}").body.at("id").get<Id>();
  }
  if (path.find("/mutes/") != std::string::npos) {
    const auto until = api.clock.wall_now() + 60'000;
    return storage::MuteStore(*api.database)
        .add({.target = "resnet18", .until = until, .made_by = "ada", .reason = "known"})
        .value()
        .id;
  }
  if (path.find("/tokens/") != std::string::npos) {
    return storage::TokenStore(*api.database)
        .add(path, std::string(64, 'b'), {Scope::read}, 1, {})
        .value()
        .id;
  }
  storage::ComparisonStore comparisons(*api.database);
  const auto first = comparisons.get(1).value();
  return comparisons
      .open({.purpose = storage::Purpose::requested,
             .candidate = first.candidate,
             .baseline = first.baseline},
            1)
      .value()
      .id;
}

/// Signing in, and what forms of pages are sent to: for people, who ask the described routes by it.
bool is_form(const http::Route& route) {
  return route.is_page && !route.scope;
}

}  // namespace

TEST_CASE("openapi.json describes exactly the routes there are") {
  const Api api;
  std::vector<Operation> served;
  for (const auto& route : api.routes) {
    if (is_twin(route.path) || is_form(route)) continue;
    served.push_back({lower(route.method), std::string(route.path)});
  }
  auto described = api_description().operations();
  std::sort(served.begin(), served.end());
  std::sort(described.begin(), described.end());
  CHECK(served.size() == described.size());
  CHECK((served == described));
}

TEST_CASE("openapi.json asks for the scope that the route does, and for no token to read") {
  const Api api;
  const auto description = api_description();
  for (const auto& route : api.routes) {
    if (is_twin(route.path) || is_form(route)) continue;
    const auto& node =
        description.document().at("paths").at(std::string(route.path)).at(lower(route.method));
    INFO(route.method << " " << route.path);
    CHECK(node.contains("security") == route.scope.has_value());
    if (!route.scope) continue;
    CHECK(node.at("x-scope") == to_string(*route.scope));
    CHECK(node.at("security").front().empty() == (*route.scope == Scope::read));
  }
}

TEST_CASE("every described operation is answered as described") {
  Api api;
  api.fill();
  REQUIRE(api.post("/api/v1/nightlies", "{}").status == 202);
  const Id traced = api.add_trace();
  REQUIRE(target_of(api, "/mutes/") == 1);
  for (const auto& operation : api_description().operations()) {
    if (is_special(operation.path_template)) continue;
    const bool is_get = operation.method == "get";
    const bool is_change = !is_get && operation.path_template.find("{id}") != std::string::npos;
    const Id shown = operation.path_template.starts_with("/traces/") ? traced : 1;
    const Id id = is_change ? target_of(api, operation.path_template) : shown;
    const std::string path = with_id(operation.path_template, id);
    const auto answer = answer_to(api, operation, path, body_for(path));
    INFO(operation.method << " " << path);
    const bool is_order = !is_get && !is_change && !is_done_at_once(path);
    const bool is_new = !is_get && path.ends_with("/tokens");
    CHECK(answer.status == (is_new ? 201 : is_order ? 202 : 200));
  }
}

TEST_CASE("the description's errors look as described") {
  Api api;
  for (const auto& operation : api_description().operations()) {
    if (operation.path_template == "/api/v1/webhooks/github") continue;
    const std::string path = with_id(operation.path_template);
    const auto asked = operation.method == "post" ? path : path + "?unknown=1";
    INFO(operation.method << " " << asked);
    CHECK(answer_to(api, operation, asked, R"({"unknown": 1})").status == 400);
  }
}

TEST_CASE("a parameter takes every word that is described for it, and no other") {
  Api api;
  api.fill();
  const auto description = api_description();
  const auto& document = description.document();
  int words = 0;
  for (const auto& operation : description.operations()) {
    const auto& node = document.at("paths").at(operation.path_template).at(operation.method);
    for (const auto& parameter : node.value("parameters", nlohmann::json::array())) {
      const auto asked = with_id(operation.path_template) + "?" + parameter.value("name", "") + "=";
      for (const auto& word : words_of(parameter, document)) {
        INFO(asked << word);
        const auto status = api.get(asked + word).status;
        CHECK((status == 200 || status == 404));
        CHECK(is_refused(api.get(asked + "beauty").status));
        ++words;
      }
    }
  }
  CHECK(words > 100);
}
