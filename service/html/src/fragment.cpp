#include "torchwatch/html/fragment.hpp"

#include "torchwatch/html/quoting.hpp"
#include "torchwatch/markdown/markdown.hpp"

namespace torchwatch::html {
namespace {

/// ` class="summary bad"`; empty without a kind.
std::string class_of(std::string_view kind) {
  return kind.empty() ? "" : " class=\"" + escaped(kind) + "\"";
}

std::string markdown_link(std::string_view address, std::string_view text) {
  return "[" + report::prose(text) + "](<" + escaped(address) + ">)";
}

Fragment fragment_of(const Cell& cell) {
  auto fragment = link(cell.link, cell.text);
  if (!cell.more.empty()) fragment += text(" " + cell.more);
  return fragment;
}

}  // namespace

Fragment& Fragment::operator+=(const Fragment& next) {
  html += next.html;
  markdown += next.markdown;
  tables.insert(tables.end(), next.tables.begin(), next.tables.end());
  return *this;
}

Fragment operator+(Fragment first, const Fragment& next) {
  first += next;
  return first;
}

Fragment text(std::string_view prose) {
  return {escaped_prose(prose), report::prose(prose), {}};
}

Fragment link(std::string_view address, std::string_view words, std::string_view relation) {
  if (address.empty()) return text(words);
  const auto rel = relation.empty() ? "" : "\" rel=\"" + escaped(relation);
  return {"<a href=\"" + escaped(address) + rel + "\">" + escaped_prose(words) + "</a>",
          markdown_link(address, words),
          {}};
}

Fragment code(std::string_view text) {
  return {"<code>" + escaped(text) + "</code>", report::code(text, text.size()), {}};
}

Fragment state(std::string_view word) {
  return {"<span class=\"state " + escaped(word) + "\">" + escaped_prose(word) + "</span>",
          report::prose(word),
          {}};
}

Fragment title(std::string_view text) {
  return {"<h1>" + escaped_prose(text) + "</h1>\n", "# " + report::prose(text) + "\n\n", {}};
}

Fragment paragraph(const Fragment& line, std::string_view kind) {
  return {"<p" + class_of(kind) + ">" + line.html + "</p>\n", line.markdown + "\n\n", {}};
}

Fragment block(std::string_view kind, const Fragment& content) {
  return {"<div" + class_of(kind) + ">\n" + content.html + "</div>\n", content.markdown,
          content.tables};
}

Fragment list(const std::vector<Fragment>& items) {
  Fragment list{"<ul>\n", "", {}};
  for (const auto& item : items) {
    list += {"<li>" + item.html + "</li>\n", "- " + item.markdown + "\n", {}};
  }
  return list + Fragment{"</ul>\n", "\n", {}};
}

Fragment stages(std::string_view name, const std::vector<std::string>& all, std::size_t at) {
  Fragment bar{"<ol class=\"stages\" aria-label=\"" + escaped(name) + "\">\n", "", {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto* state = i < at ? " class=\"done\"" : i == at ? " aria-current=\"step\"" : "";
    bar += {std::string("<li") + state + ">" + escaped(all[i]) + "</li>\n",
            "- " + report::prose(all[i]) + "\n",
            {}};
  }
  return bar + Fragment{"</ol>\n", "\n", {}};
}

Fragment facts(const std::vector<std::pair<std::string_view, Cell>>& facts) {
  Fragment list{"<dl>\n", "", {}};
  for (const auto& [name, cell] : facts) {
    if (cell.text.empty()) continue;
    const auto said = fragment_of(cell);
    list += {"<div><dt>" + escaped(name) + "</dt><dd>" + said.html + "</dd></div>\n",
             "- " + report::prose(name) + ": " + said.markdown + "\n",
             {}};
  }
  return list + Fragment{"</dl>\n", "\n", {}};
}

Fragment section(std::string_view heading, const Fragment& content, std::string_view id) {
  const auto anchor = id.empty() ? "" : " id=\"" + escaped(id) + "\"";
  return {"<section" + anchor + ">\n<h2>" + escaped(heading) + "</h2>\n" + content.html +
              "</section>\n",
          "## " + report::prose(heading) + "\n\n" + content.markdown, content.tables};
}

Fragment details(std::string_view summary, const Fragment& content) {
  return {
      "<details>\n<summary>" + escaped(summary) + "</summary>\n" + content.html + "</details>\n",
      "### " + report::prose(summary) + "\n\n" + content.markdown, content.tables};
}

Fragment code_block(std::string_view text) {
  // Whoever has no mouse scrolls a long line with the keys (axe: scrollable-region-focusable).
  return {"<pre tabindex=\"0\">" + escaped(text) + "</pre>\n", report::block(text), {}};
}

Fragment figure(const std::string& svg, std::string_view drawn_text, std::string_view sentence,
                const Fragment& data) {
  Fragment figure;
  figure.html = "<figure>\n<div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"" +
                escaped(sentence) + "\">" + svg + "</div>\n<figcaption>" + escaped_prose(sentence) +
                "</figcaption>\n";
  if (!data.html.empty()) {
    figure.html += "<details>\n<summary>As a table</summary>\n" + data.html + "</details>\n";
  }
  figure.html += "</figure>\n";
  figure.markdown = report::prose(sentence) + "\n\n";
  figure.markdown += drawn_text.empty() ? data.markdown : report::block(drawn_text);
  figure.tables = data.tables;
  return figure;
}

}  // namespace torchwatch::html
