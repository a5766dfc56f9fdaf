#include <algorithm>
#include <array>
#include <cctype>

#include "torchwatch/log/log.hpp"

namespace torchwatch::log {
namespace {

constexpr std::string_view kRedacted = "[redacted]";
constexpr std::size_t kTokenBytesMin = 8;
constexpr std::size_t kLongBytes = 20;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

/// What a credential in a header may hold (RFC 7235's token68), and the dots of a JWT.
bool is_credential(char c) {
  return is_word(c) || std::string_view("._~+/=").find(c) != std::string_view::npos;
}

bool starts_without_case(std::string_view text, std::string_view lower_prefix) {
  return text.size() >= lower_prefix.size() &&
         std::equal(lower_prefix.begin(), lower_prefix.end(), text.begin(), [](char want, char c) {
           return want == std::tolower(static_cast<unsigned char>(c));
         });
}

std::size_t run_length(std::string_view text, bool (*holds)(char)) {
  const auto* const end = std::find_if_not(text.begin(), text.end(), holds);
  return static_cast<std::size_t>(end - text.begin());
}

/// A stretch of text: how much of it to keep, and how much behind that to replace.
struct Credential {
  std::size_t kept = 0;
  std::size_t hidden = 0;
};

bool is_separator(char c) {
  return std::string_view(" :=\"'").find(c) != std::string_view::npos;
}

/// "basic authentication" and "token rejected" are prose; what a machine made holds a digit or is
/// long.
bool looks_made(std::string_view text) {
  return text.size() >= kLongBytes ||
         (text.size() >= kTokenBytesMin && std::ranges::any_of(text, [](char c) {
            return std::isdigit(static_cast<unsigned char>(c)) != 0;
          }));
}

/// The value behind a word that announces one: `Bearer VALUE`, `token=VALUE`.
Credential announced(std::string_view text) {
  struct Word {
    std::string_view lower;
    bool is_sure;  ///< whatever follows is a credential
  };
  constexpr std::array kWords{Word{"bearer", true}, Word{"password", true}, Word{"basic", false},
                              Word{"token", false}};
  for (const auto& word : kWords) {
    if (!starts_without_case(text, word.lower)) continue;
    const auto separators = run_length(text.substr(word.lower.size()), is_separator);
    if (separators == 0) return {};
    const auto kept = word.lower.size() + separators;
    const auto value = text.substr(kept, run_length(text.substr(kept), is_credential));
    if (word.is_sure || looks_made(value)) return {kept, value.size()};
  }
  return {};
}

/// A whole Authorization header, whatever its scheme.
Credential authorization(std::string_view text) {
  constexpr std::string_view kName = "authorization";
  if (!starts_without_case(text, kName)) return {};
  const auto separators = run_length(text.substr(kName.size()), is_separator);
  if (separators == 0 || text.substr(kName.size(), separators).find(':') == std::string::npos) {
    return {};
  }
  const auto kept = kName.size() + separators;
  return {kept, std::min(text.find_first_of("\"'", kept), text.size()) - kept};
}

Credential github_token(std::string_view text) {
  for (const std::string_view prefix : {"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}) {
    if (!text.starts_with(prefix)) continue;
    const auto length = run_length(text, is_credential);
    if (length >= prefix.size() + kTokenBytesMin) return {0, length};
  }
  return {};
}

/// Its header is JSON, which begins with {" and so with eyJ; parts are parted by dots.
Credential json_web_token(std::string_view text) {
  if (!text.starts_with("eyJ")) return {};
  const auto token = text.substr(0, run_length(text, is_credential));
  if (token.size() < kLongBytes || std::ranges::count(token, '.') < 2) return {};
  return {0, token.size()};
}

Credential user_of_url(std::string_view text) {
  constexpr std::string_view kMark = "://";
  if (!text.starts_with(kMark)) return {};
  const auto host = text.substr(kMark.size());
  const auto at = host.substr(0, host.find_first_of("/?# \"',")).rfind('@');
  if (at == std::string_view::npos) return {};
  return {kMark.size(), at};
}

Credential private_key(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  if (!text.starts_with(kBegin)) return {};
  const auto header = text.substr(0, text.find("-----", kBegin.size()));
  if (header.find("PRIVATE KEY") == std::string_view::npos) return {};
  constexpr std::string_view kEnd = "-----END ";
  const auto end = text.find(kEnd);
  return {0, end == std::string_view::npos ? text.size() : end};
}

Credential credential_at(std::string_view text, bool begins_word) {
  if (begins_word) {
    for (const auto find : {authorization, announced, github_token, json_web_token}) {
      if (const auto found = find(text); found.hidden > 0) return found;
    }
  }
  if (const auto found = user_of_url(text); found.hidden > 0) return found;
  return private_key(text);
}

}  // namespace

std::string redact(std::string_view from, std::span<const std::string> secrets) {
  std::string known(from);
  for (const auto& secret : secrets) {
    if (secret.empty()) continue;
    for (auto at = known.find(secret); at != std::string::npos; at = known.find(secret, at)) {
      known.replace(at, secret.size(), kRedacted);
      at += kRedacted.size();
    }
  }
  std::string safe;
  std::string_view text = known;
  bool begins_word = true;
  while (!text.empty()) {
    const auto found = credential_at(text, begins_word);
    const auto kept = found.hidden > 0 ? found.kept : 1;
    safe += text.substr(0, kept);
    if (found.hidden > 0) safe += kRedacted;
    text.remove_prefix(kept + found.hidden);
    begins_word = !is_word(safe.back());
  }
  return safe;
}

}  // namespace torchwatch::log
