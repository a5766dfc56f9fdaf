#include "torchwatch/html/quoting.hpp"

#include "torchwatch/canvas/markup.hpp"
#include "torchwatch/markdown/markdown.hpp"

namespace torchwatch::html {
namespace {

/// A longer word may break anywhere: it must fit a narrow screen.
constexpr std::size_t kWholeWordMax = 32;

/// Whether a browser would break the word at a dash in it.
bool is_broken_at_dash(std::string_view word) {
  const auto dash = word.find('-', 1);
  return word.size() <= kWholeWordMax && dash != std::string_view::npos && dash + 1 < word.size();
}

/// Whether the text begins with a time as `platform::date_and_minute` writes it: in UTC.
bool begins_with_time(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00 00:00";
  if (text.size() < kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : text[i] != kForm[i]) return false;
  }
  const auto rest = text.substr(kForm.size());
  return rest.empty() || rest.find_first_of(" .,;:)") == 0;
}

/// A time that the script can say as the reader's clock has it; for others it stays UTC.
std::string html_time(std::string_view date, std::string_view minute) {
  const auto said = std::string(date) + " " + std::string(minute);
  return "<time class=\"whole\" datetime=\"" + std::string(date) + "T" + std::string(minute) +
         "Z\">" + said + "</time>";
}

/// A word, which breaks, if it must, behind the dots of a range: "1f0c1..abc12".
std::string html_word(std::string_view word) {
  constexpr std::string_view kDots = "..";
  auto safe = escaped(word);
  if (is_broken_at_dash(word)) return "<span class=\"whole\">" + safe + "</span>";
  const auto dots = safe.find(kDots);
  const bool is_range = dots != std::string::npos && dots > 0 && dots + kDots.size() < safe.size();
  if (is_range && safe[dots + kDots.size()] != '.') safe.insert(dots + kDots.size(), "<wbr>");
  return safe;
}

std::string html_words(std::string_view text) {
  constexpr std::size_t kDate = 10;
  constexpr std::size_t kTime = 16;
  std::string html;
  while (!text.empty()) {
    if (begins_with_time(text)) {
      html += html_time(text.substr(0, kDate), text.substr(kDate + 1, kTime - kDate - 1));
      text.remove_prefix(kTime);
    }
    const auto end = text.find(' ');
    const auto word = text.substr(0, end);
    html += html_word(word);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    html += drawing::belong_together(word, text) ? "\u00a0" : " ";
  }
  return html;
}

std::string html_code(std::string_view text) {
  return "<code>" + escaped(text) + "</code>";
}

}  // namespace

std::string escaped_prose(std::string_view text) {
  return report::with_code(text, html_words, html_code);
}

}  // namespace torchwatch::html
