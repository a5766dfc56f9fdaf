#include "torchwatch/markdown/markdown.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "torchwatch/records/hex.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::report {
namespace {

/// The text with every broken byte sequence replaced by U+FFFD, by the JSON library's decoder.
std::string valid_utf8(std::string_view text) {
  using nlohmann::json;
  const std::string quoted =
      json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

std::size_t sequence_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0x80) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

char32_t code_point(std::string_view sequence) {
  if (sequence.size() == 1) return static_cast<unsigned char>(sequence[0]);
  char32_t value = static_cast<unsigned char>(sequence[0]) & (0x7FU >> sequence.size());
  for (const char byte : sequence.substr(1)) {
    value = (value << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return value;
}

struct Span {
  char32_t first;
  char32_t last;
};
/// What no reader sees but what changes what he sees: controls, directions, zero widths.
constexpr std::array kInvisible{Span{0x00, 0x1F},      Span{0x7F, 0x9F},     Span{0xAD, 0xAD},
                                Span{0x061C, 0x061C},  Span{0x200B, 0x200F}, Span{0x2028, 0x202E},
                                Span{0x2060, 0x206F},  Span{0xFEFF, 0xFEFF}, Span{0xFFF9, 0xFFFB},
                                Span{0xE0000, 0xE007F}};

bool is_invisible(char32_t value) {
  return std::any_of(kInvisible.begin(), kInvisible.end(), [value](const Span& span) {
    return span.first <= value && value <= span.last;
  });
}

void break_comment_starts(std::string& text) {
  for (auto at = text.find("<!--"); at != std::string::npos; at = text.find("<!--", at)) {
    text.replace(at, 4, "<! --");
  }
}

bool is_address(std::string_view text) {
  return (text.starts_with("https://") || text.starts_with("http://")) &&
         text.find_first_of(" \t\r\n()<>[]\"\\") == std::string_view::npos;
}

std::size_t longest_run(std::string_view text, char wanted) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// <code> with everything but letters, digits and spaces as entities: for what a code span cannot
/// hold.
std::string code_element(const std::string& text) {
  std::string escaped = "<code>";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x80 || std::isalnum(byte) != 0 || c == ' ';
    escaped += plain ? std::string(1, c) : "&#" + std::to_string(byte) + ";";
  }
  return escaped + "</code>";
}

std::string code_span(const std::string& text) {
  // GitHub's parser gives up on fences of more than 80 backticks.
  constexpr std::size_t kFenceMax = 40;
  if (text.find_first_not_of(' ') == std::string::npos) return "` `";
  const std::size_t fence_length = longest_run(text, '`') + 1;
  if (fence_length > kFenceMax) return code_element(text);
  const std::string fence(fence_length, '`');
  const bool touches = text.front() == '`' || text.back() == '`' || text.front() == ' ';
  const std::string pad = touches ? " " : "";
  return fence + pad + text + pad + fence;
}

/// A block of cleaned lines, with a fence that none of them can close.
std::string fenced(const std::string& lines, std::string_view language) {
  const std::string fence(std::max<std::size_t>(3, longest_run(lines, '`') + 1), '`');
  return fence + std::string(language) + "\n" + lines + fence + "\n";
}

bool is_control(char character) {
  return static_cast<unsigned char>(character) < ' ';
}

std::string markdown_words(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_[]>|#~&!";
  std::string safe;
  for (const char character : text) {
    if (character == '<') {
      safe += "&lt;";
      continue;
    }
    if (kMarkup.find(character) != std::string_view::npos) safe += '\\';
    safe += is_control(character) ? ' ' : character;
    // Nobody is mentioned by a text of others.
    if (character == '@') safe += "\u200b";
  }
  return safe;
}

std::string whole_code(std::string_view text) {
  return code(text, text.size());
}

std::string row_of(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const auto& cell : cells) row += " " + cell + " |";
  return row + "\n";
}

std::string left_out(std::size_t total, std::size_t shown, std::string_view of_what) {
  return "and " + std::to_string(total - shown) + " more " + std::string(of_what);
}

}  // namespace

std::string clean(std::string_view text, std::size_t characters_max) {
  // A character is at most four bytes: what lies behind cannot be shown and need not be decoded.
  const std::string valid = valid_utf8(text.substr(0, characters_max * 4 + 4));
  std::string cleaned;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < valid.size();) {
    if (characters + 1 == characters_max && at + sequence_length(valid[at]) < valid.size()) {
      cleaned += "…";
      break;
    }
    const auto sequence = std::string_view(valid).substr(at, sequence_length(valid[at]));
    if (is_invisible(code_point(sequence))) {
      cleaned += ' ';
    } else {
      cleaned += sequence;
    }
    at += sequence.size();
    ++characters;
  }
  break_comment_starts(cleaned);
  return cleaned;
}

std::string code(std::string_view text, std::size_t characters_max) {
  return code_span(clean(text, characters_max));
}

std::string code_cell(std::string_view text, std::size_t characters_max) {
  const std::string cleaned = clean(text, characters_max);
  // Pipes are split before code spans are read: only an entity survives in a cell.
  return cleaned.find_first_of("|\\") == std::string::npos ? code_span(cleaned)
                                                           : code_element(cleaned);
}

std::string commit_address(const std::string& address, const std::string& sha) {
  return is_address(address) && is_commit(sha) ? address + "/commit/" + sha : "";
}

std::string commit_link(const std::string& address, const std::string& sha) {
  const auto text = code(short_sha(sha));
  const auto linked = commit_address(address, sha);
  return linked.empty() ? text : "[" + text + "](" + linked + ")";
}

std::string range_link(const std::string& address, const std::string& from, const std::string& to) {
  const auto text = code(short_sha(from) + ".." + short_sha(to));
  if (!is_address(address) || !is_commit(from) || !is_commit(to)) return text;
  return "[" + text + "](" + address + "/compare/" + from + "..." + to + ")";
}

std::string link(std::string_view text, const std::string& address) {
  return is_address(address) ? "[" + std::string(text) + "](" + address + ")" : "";
}

std::string pull_link(const std::string& address, const std::string& number) {
  const bool is_number =
      !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? link("pull request " + number, address + "/pull/" + number) : "";
}

std::string code_block(std::string_view line, std::string_view language) {
  constexpr std::size_t kCharactersMax = 500;
  return fenced(clean(line, kCharactersMax) + "\n", language);
}

std::string code_block(const std::vector<std::string>& lines) {
  constexpr std::size_t kCharactersMax = 300;
  std::string cleaned;
  for (const auto& line : lines) cleaned += clean(line, kCharactersMax) + "\n";
  return fenced(cleaned, "");
}

std::string block(std::string_view text) {
  return fenced(std::string(text) + (text.ends_with('\n') ? "" : "\n"), "") + "\n";
}

std::string prose(std::string_view text) {
  return with_code(printable(text), markdown_words, whole_code);
}

std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows, std::size_t rows_max,
                  std::size_t numbers_from) {
  std::string text = row_of(head);
  std::vector<std::string> rules(head.size(), "---");
  for (auto i = numbers_from; i < rules.size(); ++i) rules[i] = "--:";
  text += row_of(rules);
  const std::size_t shown = std::min(rows.size(), rows_max);
  for (std::size_t i = 0; i < shown; ++i) text += row_of(rows[i]);
  if (shown < rows.size()) text += "\n" + left_out(rows.size(), shown, "rows") + ".\n";
  return text;
}

std::string bullets(const std::vector<std::string>& items, std::size_t items_max,
                    std::string_view of_what) {
  std::string text;
  const std::size_t shown = std::min(items.size(), items_max);
  for (std::size_t i = 0; i < shown; ++i) text += "- " + items[i] + "\n";
  if (shown < items.size()) text += "- " + left_out(items.size(), shown, of_what) + "\n";
  return text;
}

}  // namespace torchwatch::report
