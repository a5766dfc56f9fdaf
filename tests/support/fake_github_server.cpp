// A GitHub on 127.0.0.1 as a process of its own, for tests that are no C++:
//
//   torchwatch_fake_github REPOSITORY TOKEN DESCRIPTION.json
//
// Its first line says where it listens. It then answers each line of its standard input with a line
// of JSON, and ends with it:
//   issues        every issue with its comments
//   violations    what was asked for that GitHub's description does not allow
//   plant BODY    opens an issue of somebody else with this text
#include <iostream>

#include "fake_github.hpp"

namespace {

using nlohmann::json;
using torchwatch::test::ApiDescription;
using torchwatch::test::UnjudgedGithub;

json json_of(const UnjudgedGithub::Issue& issue) {
  json comments = json::array();
  for (const auto& comment : issue.comments) comments.push_back(comment.body);
  return {{"number", issue.number},
          {"title", issue.title},
          {"body", issue.body},
          {"state", issue.state},
          {"comments", std::move(comments)}};
}

json answer_to(const std::string& line, UnjudgedGithub& github) {
  constexpr std::string_view kPlant = "plant ";
  if (line == "violations") return github.violations();
  if (line == "issues") {
    json issues = json::array();
    for (const auto& issue : github.issues()) issues.push_back(json_of(issue));
    return issues;
  }
  if (!line.starts_with(kPlant)) return {{"error", "unknown command: " + line}};
  UnjudgedGithub::Issue issue;
  issue.title = "Somebody else's";
  issue.body = line.substr(kPlant.size());
  github.plant(std::move(issue));
  return json::object();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "usage: torchwatch_fake_github REPOSITORY TOKEN DESCRIPTION.json\n";
    return 2;
  }
  const torchwatch::platform::SystemClock clock;
  UnjudgedGithub github(arguments[1], arguments[2], ApiDescription::read(arguments[3]), &clock);
  std::cout << github.url() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer_to(line, github).dump() << std::endl;
  }
}
