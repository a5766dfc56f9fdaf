#include "torchwatch/terminal/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace torchwatch::terminal {

Output::int_type Output::overflow(int_type character) {
  if (!traits_type::eq_int_type(character, traits_type::eof())) {
    kept_ += traits_type::to_char_type(character);
  }
  return traits_type::not_eof(character);
}

std::streamsize Output::xsputn(const char* text, std::streamsize size) {
  kept_.append(text, static_cast<std::size_t>(size));
  return size;
}

int Output::sync() {
  std::size_t written = 0;
  while (error_ == 0 && written < kept_.size()) {
    const auto done = write(descriptor_, kept_.data() + written, kept_.size() - written);
    if (done >= 0) {
      written += static_cast<std::size_t>(done);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  kept_.clear();
  return error_ == 0 ? 0 : -1;
}

Status Output::finish() {
  sync();
  if (error_ == 0 || error_ == EPIPE) return {};
  return fail(ErrorCode::unavailable, "the result cannot be written to standard output: " +
                                          std::generic_category().message(error_));
}

}  // namespace torchwatch::terminal
