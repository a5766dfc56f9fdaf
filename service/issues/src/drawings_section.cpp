#include "drawings_section.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "torchwatch/markdown/markdown.hpp"

namespace torchwatch::report {
namespace {

/// What is drawn comes first to last; what does not fit is on the page.
constexpr std::size_t kTextsBytesMax = 6'000;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// An address of ours: nothing in it ends the link or its title.
bool is_plain(std::string_view address) {
  return address.find_first_of(" \t\r\n<>()[]\"\\`") == std::string_view::npos;
}

std::string picture_line(const Drawings& drawings) {
  if (drawings.picture.empty() || !is_plain(drawings.picture)) return "";
  return "\n![The samples of both builds and the past of the series; the text below says the "
         "same](" +
         drawings.picture + ")\n";
}

}  // namespace

std::string drawings_section(const Drawings& drawings) {
  if (drawings.texts.empty()) return "";
  std::string texts;
  for (const auto& text : drawings.texts) {
    const auto next = "\n" + code_block(lines_of(text));
    if (texts.size() + next.size() > kTextsBytesMax) break;
    texts += next;
  }
  return "\n### Evidence\n" + picture_line(drawings) + texts;
}

}  // namespace torchwatch::report
