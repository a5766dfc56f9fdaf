#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace torchwatch::test {

/// A request as a description judges it.
struct DescribedRequest {
  std::string method;  ///< "GET"
  std::string path;    ///< percent-decoded, without query
  std::multimap<std::string, std::string> query;
  std::string content_type;
  std::string body;
};

/// An OpenAPI 3.0 description, against which requests and responses are held.
class ApiDescription {
 public:
  explicit ApiDescription(nlohmann::json document);
  static ApiDescription read(const std::filesystem::path& file);

  struct Operation {
    std::string method;         ///< "get"
    std::string path_template;  ///< "/repos/{owner}/{repo}/issues"
    auto operator<=>(const Operation&) const = default;
  };
  std::vector<Operation> operations() const;
  const nlohmann::json& document() const { return document_; }

  /// The operation a request is for; of several templates the one with more literal parts.
  std::optional<Operation> find(const std::string& method, const std::string& path) const;

  /// What the description does not allow; empty: the request is as described.
  std::vector<std::string> violations(const DescribedRequest&) const;
  /// The same for a response to `method` `path`. A body of no content is "".
  std::vector<std::string> violations(const std::string& method, const std::string& path,
                                      int status, const std::string& content_type,
                                      const std::string& body) const;

 private:
  const nlohmann::json& node_of(const Operation&) const;
  std::vector<nlohmann::json> parameters_of(const Operation&, const std::string& in) const;
  void check_query(const Operation&, const DescribedRequest&, std::vector<std::string>&) const;
  void check_path(const Operation&, const std::string& path, std::vector<std::string>&) const;
  void check_body(const Operation&, const DescribedRequest&, std::vector<std::string>&) const;

  nlohmann::json document_;
};

}  // namespace torchwatch::test
