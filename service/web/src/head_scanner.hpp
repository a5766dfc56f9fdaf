#pragma once

#include <cstddef>

namespace torchwatch::web {

/// Watches the bytes of a request's head as they pass and stops what the HTTP library would read
/// otherwise than a proxy in front of it: bare CR or LF, NUL, folded lines, lines without a colon,
/// too many lines.
class HeadScanner {
 public:
  enum class Finding { fine, malformed, too_many_lines };

  Finding see(char byte);

 private:
  Finding see_line_end();

  static constexpr std::size_t kLinesMax = 100;
  std::size_t lines_ = 0;
  std::size_t line_length_ = 0;
  bool has_colon_ = false;
  bool after_cr_ = false;
};

}  // namespace torchwatch::web
