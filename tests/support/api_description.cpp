#include "api_description.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "temporary_folder.hpp"

namespace torchwatch::test {
namespace {

using nlohmann::json;

json to_json(const Exchange& exchange) {
  json query = json::array();
  for (const auto& [name, text] : exchange.query) query.push_back(json::array({name, text}));
  json answer;
  if (exchange.answer) {
    answer = {{"status", exchange.answer->status},
              {"content_type", exchange.answer->content_type},
              {"body", exchange.answer->body}};
  }
  return {{"request",
           {{"method", exchange.method},
            {"path", exchange.path},
            {"query", query},
            {"content_type", exchange.content_type},
            {"body", exchange.body}}},
          {"response", answer}};
}

std::string quoted(const std::filesystem::path& path) {
  return "'" + path.string() + "'";
}

/// What a command prints, line by line; a line more when it fails.
std::vector<std::string> lines_of(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {"cannot start " + command};
  std::string output;
  std::array<char, 4096> part{};
  while (const auto size = std::fread(part.data(), 1, part.size(), pipe)) {
    output.append(part.data(), size);
  }
  if (::pclose(pipe) != 0) output += "failed: " + command + "\n";
  std::vector<std::string> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

ApiDescription::ApiDescription(std::filesystem::path file, json document)
    : file_(std::move(file)), document_(std::move(document)) {}

ApiDescription ApiDescription::read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("no description at " + file.string());
  return {file, json::parse(stream)};
}

ApiDescription ApiDescription::with_paths_of(const ApiDescription& other) const {
  ApiDescription both = *this;
  both.file_.clear();
  for (const char* const place :
       {"/paths", "/components/parameters", "/components/responses", "/components/schemas"}) {
    const json::json_pointer at(place);
    if (!other.document_.contains(at)) continue;
    for (const auto& [name, node] : other.document_.at(at).items()) {
      both.document_[at].emplace(name, node);
    }
  }
  return both;
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

std::vector<std::string> ApiDescription::violations(const std::vector<Exchange>& exchanges,
                                                    Undescribed undescribed) const {
  const TemporaryFolder folder;
  const auto file = folder.path() / "exchanges.jsonl";
  std::ofstream stream(file);
  for (const auto& exchange : exchanges) {
    stream << to_json(exchange).dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  }
  stream.close();
  const auto description = file_.empty() ? folder.path() / "description.json" : file_;
  if (file_.empty()) std::ofstream(description) << document_;
  const std::string option =
      undescribed == Undescribed::ignored ? " --described-only" : std::string();
  return lines_of(quoted(PYTHON_WITH_JSONSCHEMA) + " -B " + quoted(DESCRIBED_EXCHANGES) + " " +
                  quoted(description) + " " + quoted(file) + option);
}

}  // namespace torchwatch::test
