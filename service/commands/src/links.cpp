#include "torchwatch/commands/links.hpp"

#include <ostream>
#include <sstream>

#include "torchwatch/commands/comparison_output.hpp"
#include "torchwatch/config/addresses.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/terminal/links.hpp"

namespace torchwatch::commands {
namespace {

std::vector<terminal::Link> links_in(const std::string& printed, const config::Config& config) {
  std::vector<terminal::Link> links;
  const auto commits = config::commits_address(config);
  const auto history = commits.empty() ? std::nullopt : history_of(config);
  if (history) {
    for (const auto& text : terminal::short_shas_in(printed)) {
      const auto sha = history->resolve(text);
      if (sha) links.push_back({text, report::commit_address(commits, *sha)});
    }
  }
  const auto issues = config::issues_address(config);
  if (issues.empty()) return links;
  for (const auto& number : terminal::issues_in(printed)) {
    links.push_back({"issue #" + number, issues + "/issues/" + number});
  }
  return links;
}

}  // namespace

void print_linked(const Invocation& invocation, const std::function<void(std::ostream&)>& print) {
  if (!invocation.screen.has_links) return print(invocation.out);
  std::ostringstream text;
  print(text);
  const auto config = invocation.load_config();
  const auto links = config ? links_in(text.str(), *config) : std::vector<terminal::Link>();
  invocation.out << terminal::linked(text.str(), links, invocation.screen);
}

}  // namespace torchwatch::commands
