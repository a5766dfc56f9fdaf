#include "api_description.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <stdexcept>

#include "json_schema.hpp"

namespace torchwatch::test {
namespace {

using nlohmann::json;
using Violations = std::vector<std::string>;

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 1; at <= path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool is_placeholder(const std::string& part) {
  return part.starts_with("{");
}

/// How many literal parts of `path_template` fit `path`; nothing when it does not fit.
std::optional<int> fit(const std::string& path_template, const std::string& path) {
  const auto pattern = parts_of(path_template);
  const auto parts = parts_of(path);
  if (pattern.size() != parts.size()) return std::nullopt;
  int literals = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_placeholder(pattern[i]) && !parts[i].empty()) continue;
    if (pattern[i] != parts[i]) return std::nullopt;
    ++literals;
  }
  return literals;
}

/// A parameter's text as the JSON value that its schema is about.
json typed(const std::string& text, const json& schema) {
  const std::string type = schema.value("type", "string");
  const bool parsed = type == "integer" || type == "number" || type == "boolean";
  return parsed ? json::parse(text, nullptr, false) : json(text);
}

void append(Violations& all, const Violations& more, const std::string& prefix) {
  for (const auto& violation : more) all.push_back(prefix + violation);
}

std::string media_type(const std::string& content_type) {
  return content_type.substr(0, content_type.find(';'));
}

}  // namespace

ApiDescription::ApiDescription(json document) : document_(std::move(document)) {}

ApiDescription ApiDescription::read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("no description at " + file.string());
  return ApiDescription(json::parse(stream));
}

std::vector<ApiDescription::Operation> ApiDescription::operations() const {
  static const std::vector<std::string> kMethods{"get", "put", "post", "delete", "patch"};
  std::vector<Operation> all;
  for (const auto& [path_template, node] : document_.at("paths").items()) {
    for (const auto& method : kMethods) {
      if (node.contains(method)) all.push_back({method, path_template});
    }
  }
  return all;
}

std::optional<ApiDescription::Operation> ApiDescription::find(const std::string& method,
                                                              const std::string& path) const {
  std::string lower = method == "HEAD" ? "get" : method;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::optional<Operation> best;
  int best_literals = -1;
  for (const auto& operation : operations()) {
    const auto literals = fit(operation.path_template, path);
    if (operation.method != lower || !literals || *literals <= best_literals) continue;
    best = operation;
    best_literals = *literals;
  }
  return best;
}

const json& ApiDescription::node_of(const Operation& operation) const {
  return document_.at("paths").at(operation.path_template).at(operation.method);
}

std::vector<json> ApiDescription::parameters_of(const Operation& operation,
                                                const std::string& in) const {
  std::vector<json> found;
  const json& path_node = document_.at("paths").at(operation.path_template);
  for (const json& holder : {path_node, node_of(operation)}) {
    for (const auto& parameter : holder.value("parameters", json::array())) {
      const json& node = resolved(document_, parameter);
      if (node.at("in") == in) found.push_back(node);
    }
  }
  return found;
}

void ApiDescription::check_query(const Operation& operation, const DescribedRequest& request,
                                 Violations& found) const {
  const auto parameters = parameters_of(operation, "query");
  for (const auto& [name, text] : request.query) {
    const auto known = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const json& node) { return node.at("name") == name; });
    if (known == parameters.end()) {
      found.push_back("query parameter \"" + name + "\" is not described");
      continue;
    }
    const json& schema = resolved(document_, known->at("schema"));
    append(found, schema_violations(document_, schema, typed(text, schema)), "query " + name + " ");
  }
  for (const auto& parameter : parameters) {
    const auto name = parameter.at("name").get<std::string>();
    if (parameter.value("required", false) && request.query.count(name) == 0) {
      found.push_back("query parameter \"" + name + "\" is missing");
    }
  }
}

void ApiDescription::check_path(const Operation& operation, const std::string& path,
                                Violations& found) const {
  const auto pattern = parts_of(operation.path_template);
  const auto parts = parts_of(path);
  for (const auto& parameter : parameters_of(operation, "path")) {
    const std::string placeholder = "{" + parameter.at("name").get<std::string>() + "}";
    const auto at = std::find(pattern.begin(), pattern.end(), placeholder) - pattern.begin();
    const json& schema = resolved(document_, parameter.at("schema"));
    append(
        found,
        schema_violations(document_, schema, typed(parts.at(static_cast<std::size_t>(at)), schema)),
        "path " + placeholder + " ");
  }
}

void ApiDescription::check_body(const Operation& operation, const DescribedRequest& request,
                                Violations& found) const {
  const json& node = node_of(operation);
  if (!node.contains("requestBody")) {
    if (!request.body.empty()) found.emplace_back("a body is sent where none is described");
    return;
  }
  const json& described = resolved(document_, node.at("requestBody"));
  if (request.body.empty()) {
    if (described.value("required", false)) found.emplace_back("the body is missing");
    return;
  }
  const json& content = described.at("content");
  const std::string type = media_type(request.content_type);
  if (!content.contains(type)) {
    found.push_back("content type \"" + type + "\" is not described");
    return;
  }
  const json body = json::parse(request.body, nullptr, false);
  if (body.is_discarded()) {
    found.emplace_back("the body is no JSON");
    return;
  }
  append(found, schema_violations(document_, content.at(type).at("schema"), body), "body ");
}

Violations ApiDescription::violations(const DescribedRequest& request) const {
  const std::string what = request.method + " " + request.path + ": ";
  const auto operation = find(request.method, request.path);
  if (!operation) return {what + "is not described"};
  Violations found;
  check_path(*operation, request.path, found);
  check_query(*operation, request, found);
  check_body(*operation, request, found);
  for (auto& violation : found) violation.insert(0, what);
  return found;
}

Violations ApiDescription::violations(const std::string& method, const std::string& path,
                                      int status, const std::string& content_type,
                                      const std::string& body) const {
  const std::string what = method + " " + path + " -> " + std::to_string(status) + ": ";
  const auto operation = find(method, path);
  if (!operation) return {what + "is not described"};
  const json& responses = node_of(*operation).at("responses");
  const std::string code = std::to_string(status);
  if (!responses.contains(code) && !responses.contains("default")) {
    return {what + "the status is not described"};
  }
  const json& response =
      resolved(document_, responses.at(responses.contains(code) ? code : "default"));
  const json content = response.value("content", json::object());
  if (content.empty()) return body.empty() ? Violations{} : Violations{what + "has a body"};
  const std::string type = media_type(content_type);
  if (!content.contains(type)) return {what + "content type \"" + type + "\" is not described"};
  if (!type.ends_with("json")) return {};  // a page: its text is not described
  const json value = json::parse(body, nullptr, false);
  if (value.is_discarded()) return {what + "the body is no JSON"};
  Violations found;
  append(found, schema_violations(document_, content.at(type).at("schema"), value), what + "body ");
  return found;
}

}  // namespace torchwatch::test
