#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torchwatch/html/table.hpp"

namespace torchwatch::html {

/// A piece of a page in the forms that it is served in.
struct Fragment {
  std::string html;
  std::string markdown;
  std::vector<Table> tables;

  bool empty() const { return html.empty() && markdown.empty(); }
  Fragment& operator+=(const Fragment& next);
};
Fragment operator+(Fragment first, const Fragment& next);

// Within a line. Texts are plain, except that backquotes make code.

Fragment text(std::string_view prose);

/// Makes a link. The address is one of ours or one that the configuration names; without one, the
/// text alone. `relation`: "prev" and "next" are where [ and ] lead.
Fragment link(std::string_view address, std::string_view text, std::string_view relation = "");

/// Makes code, whatever the text has: a command.
Fragment code(std::string_view text);

/// Makes a coloured word.
Fragment state(std::string_view word);

// Blocks.

/// Makes the one heading of the first level that a page has.
Fragment title(std::string_view text);

/// `kind`: the style sheet's, "summary bad"; may be empty.
Fragment paragraph(const Fragment& line, std::string_view kind = "");

/// Makes a block of blocks, which the style sheet frames.
Fragment block(std::string_view kind, const Fragment& content);

Fragment list(const std::vector<Fragment>& items);

/// Makes a bar of stages, of which the one at that place is under way and those before it are done.
Fragment stages(std::string_view name, const std::vector<std::string>& all, std::size_t at);

/// Makes a list of names and what belongs to them; entries without text are left out.
Fragment facts(const std::vector<std::pair<std::string_view, Cell>>& facts);

/// Makes a section with a heading; where `id` is given, links lead to it.
Fragment section(std::string_view heading, const Fragment& content, std::string_view id = "");

/// Makes what is folded away behind its summary.
Fragment details(std::string_view summary, const Fragment& content);

Fragment code_block(std::string_view text);

/// Makes a table. One without rows is a sentence to people, and its headings as CSV.
Fragment table(Table, std::string_view otherwise = "None.");

/// Makes a picture with the sentence that says the same and, folded away, its data. `svg` is one
/// that the service has drawn; `drawn_text` is the picture of characters, for Markdown.
Fragment figure(const std::string& svg, std::string_view drawn_text, std::string_view sentence,
                const Fragment& data);

}  // namespace torchwatch::html
