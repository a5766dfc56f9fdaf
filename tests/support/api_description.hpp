#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace torchwatch::test {

/// A request and, where it is to be judged as well, its answer.
struct Exchange {
  struct Answer {
    int status = 0;
    std::string content_type;
    std::string body;  ///< "" when there is no content
  };
  std::string method;  ///< "GET"
  std::string path;    ///< percent-decoded, without query
  std::multimap<std::string, std::string> query;
  std::string content_type;
  std::string body;
  std::optional<Answer> answer;
};

/// An OpenAPI 3.0 description of an HTTP API.
class ApiDescription {
 public:
  /// Throws when the file cannot be read.
  static ApiDescription read(const std::filesystem::path& file);

  struct Operation {
    std::string method;         ///< "get"
    std::string path_template;  ///< "/repos/{owner}/{repo}/issues"
    auto operator<=>(const Operation&) const = default;
  };
  std::vector<Operation> operations() const;
  const nlohmann::json& document() const { return document_; }

  /// This description with the paths of another that it lacks.
  ApiDescription with_paths_of(const ApiDescription& other) const;

  enum class Undescribed { violation, ignored };
  /// What of the exchanges the description does not allow, as described_exchanges.py judges it. An
  /// exchange of a path that is not described is a violation unless it is `ignored`.
  std::vector<std::string> violations(const std::vector<Exchange>& exchanges,
                                      Undescribed undescribed = Undescribed::violation) const;

 private:
  ApiDescription(std::filesystem::path file, nlohmann::json document);

  std::filesystem::path file_;  ///< empty: there is none that has it all
  nlohmann::json document_;
};

}  // namespace torchwatch::test
