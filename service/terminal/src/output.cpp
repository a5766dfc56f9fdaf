#include "torchwatch/terminal/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "torchwatch/records/printable.hpp"

namespace torchwatch::terminal {
namespace {

/// What torchwatch itself writes: the colours of `painted`, the cursor of its progress, and the
/// line's end of CSV.
constexpr std::array<std::string_view, 7> kOwn{"\033[0m",  "\033[1m",  "\033[1;31m", "\033[32m",
                                               "\033[33m", "\r\033[K", "\r\n"};

std::string_view own_at(std::string_view text) {
  const auto* const own = std::ranges::find_if(
      kOwn, [&](std::string_view sequence) { return text.starts_with(sequence); });
  return own == kOwn.end() ? std::string_view() : *own;
}

std::string cleaned(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const auto own = own_at(text);
    clean += own;
    text.remove_prefix(own.size());
    if (!own.empty()) continue;
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
  const auto shown = cleaned(kept_);
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
