#include "torchwatch/terminal/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "torchwatch/records/printable.hpp"
#include "torchwatch/terminal/screen.hpp"

namespace torchwatch::terminal {
namespace {

/// What torchwatch itself writes: the colours of `painted`, the cursor of its progress, the line's
/// end of CSV, and the end of a link.
constexpr std::array<std::string_view, 8> kOwn{"\033[0m",  "\033[1m",  "\033[1;31m", "\033[32m",
                                               "\033[33m", "\r\033[K", "\r\n",       kLinkEnd};

/// Something of torchwatch's own: how much of the text it is, and what is written of it.
struct Own {
  std::size_t size = 0;
  std::string written;
};

/// A sequence that begins so, and holds nothing but printable characters up to its end.
Own string_at(std::string_view text, const std::string& beginning, std::string_view written) {
  if (!text.starts_with(beginning)) return {};
  const auto end = text.find(kStringEnd, beginning.size());
  if (end == std::string_view::npos) return {};
  const auto body = text.substr(beginning.size(), end - beginning.size());
  if (!std::ranges::all_of(body, [](char c) { return c > ' ' && c < '\x7f'; })) return {};
  return {end + kStringEnd.size(), std::string(written).append(body).append(kStringEnd)};
}

Own own_at(std::string_view text, const std::string& key) {
  if (!text.starts_with('\033') && !text.starts_with('\r')) return {};
  const auto* const own = std::ranges::find_if(
      kOwn, [&](std::string_view sequence) { return text.starts_with(sequence); });
  if (own != kOwn.end()) return {own->size(), std::string(*own)};
  auto amount = string_at(text, "\033]9;4;", "\033]9;4;");
  if (amount.size > 0 || key.empty()) return amount;
  const Screen screen{.key = key};
  if (text.starts_with(redrawing(screen))) return {redrawing(screen).size(), "\033[H\033[J"};
  return string_at(text, link_beginning(screen), "\033]8;;");
}

std::string cleaned(std::string_view text, const std::string& key) {
  std::string clean;
  while (!text.empty()) {
    const auto own = own_at(text, key);
    clean += own.written;
    text.remove_prefix(own.size);
    if (own.size > 0) continue;
    const auto next = std::min(text.find_first_of("\033\r", 1), text.size());
    clean += printable(text.substr(0, next));
    text.remove_prefix(next);
  }
  return clean;
}

}  // namespace

Output::int_type Output::overflow(int_type character) {
  const std::scoped_lock lock(mutex_);
  if (!traits_type::eq_int_type(character, traits_type::eof())) {
    kept_ += traits_type::to_char_type(character);
  }
  return traits_type::not_eof(character);
}

std::streamsize Output::xsputn(const char* text, std::streamsize size) {
  const std::scoped_lock lock(mutex_);
  kept_.append(text, static_cast<std::size_t>(size));
  return size;
}

int Output::sync() {
  const std::scoped_lock lock(mutex_);
  return write_kept();
}

int Output::write_kept() {
  const auto shown = cleaned(kept_, key_);
  std::size_t written = 0;
  while (error_ == 0 && written < shown.size()) {
    const auto done = write(descriptor_, shown.data() + written, shown.size() - written);
    if (done >= 0) {
      written += static_cast<std::size_t>(done);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  kept_.clear();
  return error_ == 0 ? 0 : -1;
}

Result<bool> Output::finish() {
  const std::scoped_lock lock(mutex_);
  write_kept();
  if (error_ == 0 || error_ == EPIPE) return error_ == 0;
  return fail(ErrorCode::unavailable, "the result cannot be written to standard output: " +
                                          std::generic_category().message(error_));
}

}  // namespace torchwatch::terminal
