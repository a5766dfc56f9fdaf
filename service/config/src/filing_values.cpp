#include <algorithm>

#include "tables.hpp"

// The values of [github] that say whom an issue reaches.

namespace torchwatch::config {
namespace {

Allowed<std::vector<std::string>> patterns() {
  return {"paths below the repository's root, in which only * and ? stand for others",
          [](const std::vector<std::string>& list) {
            return std::ranges::none_of(list, [](const std::string& pattern) {
              return pattern.empty() || pattern.front() == '/' ||
                     pattern.find_first_of("[\\") != std::string::npos;
            });
          }};
}

Allowed<std::vector<std::string>> somebody() {
  auto people = logins();
  return {"one or more " + people.words,
          [holds = people.holds](const auto& list) { return !list.empty() && holds(list); }};
}

Status owns_something(const Owner& owner) {
  if (!owner.paths.empty() || !owner.workloads.empty()) return {};
  return fail(ErrorCode::invalid, "paths, workloads: one of them must say what is owned");
}

}  // namespace

void add_owners(std::vector<Key>& table) {
  using C = Config;
  const Fields<Owner> fields{
      field("paths", &Owner::paths, patterns(), Need::optional),
      field("workloads", &Owner::workloads, Allowed<std::vector<std::string>>{}, Need::optional),
      field("notify", &Owner::notify, somebody())};
  table.push_back(list_of_tables(
      "github", "owners", &C::github, &C::Github::owners, fields,
      "Who is mentioned besides: tables [[github.owners]] with paths (patterns of files that the "
      "culprit changes) or workloads, and notify (logins, or teams as owner/team).",
      {.check = owns_something}));
}

}  // namespace torchwatch::config
