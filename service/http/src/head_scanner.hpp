#pragma once

#include <cstddef>
#include <string>

namespace torchwatch::http {

/// Checks a request's head byte by byte before the HTTP library reads it. Refuses what the library
/// would read differently from a proxy in front of it (bare CR or LF, NUL, folded lines, lines
/// without a colon, percent signs in framing headers) or would not survive (too many lines, a Range
/// long enough to exhaust the stack of its regular expression).
class HeadScanner {
 public:
  enum class Scan { fine, malformed, too_many_lines };

  /// Takes the next byte. After anything but `fine` the head must be given up.
  Scan see(char byte);
  /// Whether the line that ends the head was seen.
  bool is_whole() const { return is_whole_; }

 private:
  Scan see_line_end();
  bool is_allowed_in_line(char byte);

  static constexpr std::size_t kLinesMax = 100;
  std::size_t lines_ = 0;
  std::size_t line_length_ = 0;
  std::string name_;  ///< the header's name in lower case, at most its first 32 bytes
  bool has_colon_ = false;
  bool after_cr_ = false;
  bool is_whole_ = false;
};

/// Checks the framing of a chunked body likewise: the library takes "-5", "+2", "0x2" and blanks
/// for sizes, and trailers for headers. Allows 1 to 16 hexadecimal digits, an extension, no
/// trailers.
class ChunkScanner {
 public:
  /// Returns whether the next byte is allowed. After one that is not the body must be given up.
  bool see(char byte);

 private:
  std::size_t data_left_ = 0;   ///< of the chunk under way
  bool is_after_data_ = false;  ///< an empty line is next
  std::string line_;
};

}  // namespace torchwatch::http
