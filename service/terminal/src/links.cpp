#include "torchwatch/terminal/links.hpp"

#include <algorithm>
#include <cctype>

namespace torchwatch::terminal {
namespace {

/// Whether that character continues a word, so that what stands beside it is only a part.
bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool stands_by_itself(std::string_view printed, std::size_t at, std::size_t size) {
  const bool begins = at == 0 || !is_of_word(printed[at - 1]);
  return begins && (at + size == printed.size() || !is_of_word(printed[at + size]));
}

/// What may be in a sequence of the terminal; else the link would not be one.
bool is_plain(const std::string& url) {
  return std::ranges::all_of(url, [](char c) { return c > ' ' && c < '\x7f'; });
}

const Link* link_at(std::string_view printed, std::size_t at, const std::vector<Link>& links) {
  const auto found = std::ranges::find_if(links, [&](const Link& link) {
    return !link.text.empty() && printed.substr(at).starts_with(link.text) &&
           stands_by_itself(printed, at, link.text.size()) && is_plain(link.url);
  });
  return found == links.end() ? nullptr : &*found;
}

/// Adds what stands there unless it is known.
void add(std::string_view found, std::vector<std::string>& known) {
  if (std::ranges::find(known, found) == known.end()) known.emplace_back(found);
}

/// The characters from there on that are all of the set.
std::string_view run_of(std::string_view set, std::string_view printed, std::size_t at) {
  const auto end = std::min(printed.find_first_not_of(set, at), printed.size());
  return printed.substr(at, end - at);
}

}  // namespace

std::vector<std::string> short_shas_in(std::string_view printed) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::size_t kShort = 12;
  std::vector<std::string> found;
  for (auto at = printed.find_first_of(kHex); at != std::string_view::npos;
       at = printed.find_first_of(kHex, at)) {
    const auto word = run_of(kHex, printed, at);
    if (word.size() == kShort && stands_by_itself(printed, at, kShort)) add(word, found);
    at += word.size();
  }
  return found;
}

std::vector<std::string> issues_in(std::string_view printed) {
  constexpr std::string_view kIssue = "issue #";
  std::vector<std::string> found;
  for (auto at = printed.find(kIssue); at != std::string_view::npos;
       at = printed.find(kIssue, at)) {
    at += kIssue.size();
    const auto number = run_of("0123456789", printed, at);
    if (!number.empty()) add(number, found);
  }
  return found;
}

std::string linked(std::string_view printed, const std::vector<Link>& links, const Screen& screen) {
  if (!screen.has_links || links.empty()) return std::string(printed);
  std::string text;
  for (std::size_t at = 0; at < printed.size();) {
    const auto* link = link_at(printed, at, links);
    if (link == nullptr) {
      text += printed[at++];
      continue;
    }
    text += link_beginning(screen) + link->url;
    text.append(kStringEnd).append(link->text).append(kLinkEnd);
    at += link->text.size();
  }
  return text;
}

}  // namespace torchwatch::terminal
