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

}  // namespace

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
