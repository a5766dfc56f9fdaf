#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::report {

// Foreign text (subjects, paths, names) is hostile. These functions turn it into valid UTF-8 on one
// line, without control or direction characters, and, in Markdown, into a code span, in which
// nothing is a mention, a reference, a link or markup.

/// Makes one line of valid UTF-8 of at most `characters_max` characters ("…" marks a cut). Breaks
/// the starts of HTML comments, so that no text can imitate a marker.
std::string clean(std::string_view text, std::size_t characters_max);

/// Makes a code span of the cleaned text, with a fence that no run of backticks inside can close.
std::string code(std::string_view text, std::size_t characters_max = 200);

/// Makes a code span for a table's cell, which a pipe would end.
std::string code_cell(std::string_view text, std::size_t characters_max = 100);

/// Makes a link to a commit, or to the commits between two, with short shas as its text. Only of
/// hex digits, and of an address of https:// or http:// without a blank; else the shas as code.
std::string commit_link(const std::string& address, const std::string& sha);
std::string range_link(const std::string& address, const std::string& from, const std::string& to);

/// Makes a link to a pull request, "[pull request 99231](...)", under the same conditions; of
/// digits alone. Empty where no link may be made.
std::string pull_link(const std::string& address, const std::string& number);

/// Makes a link to an address of https:// or http:// without a blank; else an empty text.
std::string link(std::string_view text, const std::string& address);

/// Makes the address of a commit; empty where no link may be made.
std::string commit_address(const std::string& address, const std::string& sha);

/// Makes a fenced code block of one line.
std::string code_block(std::string_view line, std::string_view language);

/// Makes one of lines, of which each is cut by itself.
std::string code_block(const std::vector<std::string>& lines);

/// Makes one of a whole text, as it is, and ends it by an empty line.
std::string block(std::string_view text);

/// Makes one line of a text that people read. What stands in backquotes stays code; no other text
/// becomes a mention, a link or markup.
std::string prose(std::string_view text);

/// Joins the parts of a text, of which what stands between two backquotes is code, each as its
/// function makes it.
template <typename Words, typename Code>
std::string with_code(std::string_view text, Words words_of, Code code_of) {
  std::string out;
  while (true) {
    const auto begin = text.find('`');
    const auto end = text.find('`', begin + 1);
    if (begin == std::string_view::npos || end == std::string_view::npos) {
      return out + words_of(text);
    }
    out += words_of(text.substr(0, begin)) + code_of(text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
}

inline constexpr std::size_t kNoNumbers = SIZE_MAX;

/// Makes a pipe table of cells that are Markdown already. Keeps `rows_max` rows and counts the
/// rest in a line below. Columns from `numbers_from` on are aligned to the right.
std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows, std::size_t rows_max,
                  std::size_t numbers_from = kNoNumbers);

/// Makes a bulleted list, cut like a table. `of_what` names the items that were left out.
std::string bullets(const std::vector<std::string>& items, std::size_t items_max,
                    std::string_view of_what);

}  // namespace torchwatch::report
