#include "mail.hpp"

#include <array>
#include <ctime>

#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/records/printable.hpp"

namespace torchwatch::notify {
namespace {

constexpr std::size_t kSubjectMax = 200;
constexpr std::size_t kWordMax = 50;  ///< of an encoded word, which may have 75 with its frame
constexpr std::size_t kLineMax = 75;  ///< of quoted-printable, before the = that joins lines

std::string escaped(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'=', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

bool is_plain_in_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// The subject as encoded words (RFC 2047), each of whole characters, so that nothing in it is a
/// line break, a header or a word that somebody else encoded.
std::string subject_of(const std::string& title) {
  const auto text = report::clean(title, kSubjectMax);
  std::string words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words += (words.empty() ? "" : "\r\n ") + ("=?UTF-8?Q?" + word + "?=");
    word.clear();
  };
  for (std::size_t i = 0; i < text.size();) {
    std::string character = is_plain_in_word(text[i]) ? std::string(1, text[i]) : escaped(text[i]);
    for (++i; i < text.size() && continues_character(text[i]); ++i) character += escaped(text[i]);
    if (word.size() + character.size() > kWordMax) end_word();
    word += character;
  }
  end_word();
  return words;
}

std::string quoted_line(std::string_view line) {
  std::string out;
  std::size_t column = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool is_blank_at_end = (c == ' ' || c == '\t') && i + 1 == line.size();
    const bool is_plain = (c >= ' ' && c <= '~' && c != '=') || c == '\t';
    // A line of one dot ends a mail, and "From " begins one in a mailbox.
    const bool is_special = i == 0 && (c == '.' || c == 'F');
    const auto piece = is_plain && !is_blank_at_end && !is_special ? std::string(1, c) : escaped(c);
    if (column + piece.size() > kLineMax) {
      out += "=\r\n";
      column = 0;
    }
    out += piece;
    column += piece.size();
  }
  return out + "\r\n";
}

std::string quoted_printable(const std::string& given) {
  const auto text = printable(given);
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    out += quoted_line(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// "Mon, 17 Aug 2026 03:04:05 +0000", whatever the locale.
std::string date_of(platform::WallMillis now) {
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = now / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> rest{};
  std::strftime(rest.data(), rest.size(), " %Y %H:%M:%S +0000", &utc);
  return std::string(kDays[static_cast<std::size_t>(utc.tm_wday)]) + ", " +
         std::to_string(utc.tm_mday) + " " + kMonths[static_cast<std::size_t>(utc.tm_mon)] +
         rest.data();
}

std::string listed(const std::vector<std::string>& addresses) {
  std::string text;
  for (const auto& address : addresses) text += (text.empty() ? "" : ",\r\n ") + address;
  return text;
}

}  // namespace

std::string make_mail(const config::Config::Notify::Mail& mail, const storage::OutboxRow& message,
                      platform::WallMillis now) {
  const auto domain = mail.from.substr(mail.from.rfind('@') + 1);
  constexpr std::size_t kIdDigits = 32;
  const auto id = digest::sha256_hex(message.key).substr(0, kIdDigits);
  return "From: torchwatch <" + mail.from + ">\r\nTo: " + listed(mail.to) +
         "\r\nSubject: " + subject_of("[torchwatch] " + message.title) +
         "\r\nDate: " + date_of(now) + "\r\nMessage-ID: <" + id + "@" + domain +
         ">\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
         "Content-Type: text/plain; charset=utf-8\r\n"
         "Content-Transfer-Encoding: quoted-printable\r\n\r\n" +
         quoted_printable(message.body);
}

}  // namespace torchwatch::notify
