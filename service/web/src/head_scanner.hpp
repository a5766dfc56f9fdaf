#pragma once

#include <cstddef>
#include <string>

namespace torchwatch::web {

/// Watches the bytes of a request's head as they pass and stops what the HTTP library would read
/// otherwise than a proxy in front of it, or not survive: bare CR or LF, NUL, folded lines, lines
/// without a colon, percent signs where it decodes what nobody encodes, too many lines, a Range
/// that its regular expression would take the thread's stack for.
class HeadScanner {
 public:
  enum class Finding { fine, malformed, too_many_lines };

  Finding see(char byte);

 private:
  Finding see_line_end();
  bool is_allowed_in_line(char byte);

  static constexpr std::size_t kLinesMax = 100;
  std::size_t lines_ = 0;
  std::size_t line_length_ = 0;
  std::string name_;  ///< of the header, lower case, its beginning
  bool has_colon_ = false;
  bool after_cr_ = false;
};

}  // namespace torchwatch::web
