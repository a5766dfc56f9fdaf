#include "command_lines.hpp"

#include <cmark.h>

#include <algorithm>
#include <memory>

namespace torchwatch::conversation {
namespace {

struct FreeNode {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
};
struct FreeIterator {
  void operator()(cmark_iter* iterator) const { cmark_iter_free(iterator); }
};

/// The lines of the source, as the parser counts them.
std::vector<std::string_view> source_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find_first_of("\r\n");
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    const bool is_pair = text.compare(end, 2, "\r\n") == 0;
    text.remove_prefix(end + (is_pair ? 2 : 1));
  }
  return lines;
}

std::string_view without_indent(std::string_view line) {
  const auto first = line.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view{} : line.substr(first);
}

/// Collects the lines of one paragraph.
class Lines {
 public:
  void add(std::string_view text, bool is_plain) {
    auto& line = lines_.back();
    if (is_plain && line.plain == line.text.size()) line.plain += text.size();
    line.text += text;
  }
  void end_line() { lines_.emplace_back(); }
  std::vector<PlainLine> take() { return std::move(lines_); }

 private:
  std::vector<PlainLine> lines_{1};
};

std::string_view literal_of(cmark_node* node) {
  const char* text = cmark_node_get_literal(node);
  return text == nullptr ? std::string_view{} : text;
}

std::vector<PlainLine> lines_of(cmark_node* paragraph) {
  Lines lines;
  int depth = 0;  // inside emphasis, links and images
  const std::unique_ptr<cmark_iter, FreeIterator> each(cmark_iter_new(paragraph));
  for (auto event = cmark_iter_next(each.get()); event != CMARK_EVENT_DONE;
       event = cmark_iter_next(each.get())) {
    auto* node = cmark_iter_get_node(each.get());
    switch (cmark_node_get_type(node)) {
      case CMARK_NODE_TEXT:
        lines.add(literal_of(node), depth == 0);
        break;
      case CMARK_NODE_CODE:
        lines.add(literal_of(node), false);
        break;
      case CMARK_NODE_SOFTBREAK:
      case CMARK_NODE_LINEBREAK:
        lines.end_line();
        break;
      case CMARK_NODE_EMPH:
      case CMARK_NODE_STRONG:
      case CMARK_NODE_LINK:
      case CMARK_NODE_IMAGE:
        depth += event == CMARK_EVENT_ENTER ? 1 : -1;
        break;
      default:
        break;
    }
  }
  return lines.take();
}

/// What is escaped or written as an entity looks like plain text, but was not written so.
void require_written(std::vector<PlainLine>& lines, int first,
                     const std::vector<std::string_view>& source) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto at = static_cast<std::size_t>(first - 1) + i;
    const auto written = at < source.size() ? without_indent(source[at]) : std::string_view{};
    const auto& text = lines[i].text;
    const auto [differs, ignored] =
        std::mismatch(text.begin(), text.end(), written.begin(), written.end());
    lines[i].plain = std::min<std::size_t>(lines[i].plain, differs - text.begin());
  }
}

}  // namespace

std::vector<PlainLine> lines_of_paragraphs(std::string_view markdown) {
  const std::unique_ptr<cmark_node, FreeNode> document(
      cmark_parse_document(markdown.data(), markdown.size(), CMARK_OPT_VALIDATE_UTF8));
  std::vector<PlainLine> all;
  if (!document) return all;
  const auto source = source_lines(markdown);
  for (auto* block = cmark_node_first_child(document.get()); block != nullptr;
       block = cmark_node_next(block)) {
    if (cmark_node_get_type(block) != CMARK_NODE_PARAGRAPH) continue;
    auto lines = lines_of(block);
    require_written(lines, cmark_node_get_start_line(block), source);
    std::ranges::move(lines, std::back_inserter(all));
  }
  return all;
}

}  // namespace torchwatch::conversation
