#include "torchwatch/records/hex.hpp"

namespace torchwatch {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::string hex_of(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return text;
}

std::string hex_of(std::uint64_t number) {
  std::string text(2 * sizeof number, '0');
  for (auto at = text.rbegin(); at != text.rend(); ++at, number >>= 4U) *at = kDigits[number & 15U];
  return text;
}

bool is_hex(std::string_view text, std::size_t digits_min, std::size_t digits_max) {
  return text.size() >= digits_min && text.size() <= digits_max &&
         text.find_first_not_of(kDigits) == std::string_view::npos;
}

bool is_commit(std::string_view text) {
  constexpr std::size_t kSha1Digits = 40;
  constexpr std::size_t kSha256Digits = 64;
  return is_hex(text, kSha1Digits, kSha1Digits) || is_hex(text, kSha256Digits, kSha256Digits);
}

std::string short_sha(std::string_view sha) {
  constexpr std::size_t kDigitsShown = 12;
  return std::string(sha.substr(0, kDigitsShown));
}

}  // namespace torchwatch
