#include "head_scanner.hpp"

namespace torchwatch::web {

HeadScanner::Finding HeadScanner::see(char byte) {
  if (after_cr_ != (byte == '\n')) return Finding::malformed;
  after_cr_ = byte == '\r';
  if (byte == '\0') return Finding::malformed;
  if (byte == '\r') return Finding::fine;
  if (byte == '\n') return see_line_end();
  const bool is_fold = line_length_ == 0 && (byte == ' ' || byte == '\t');
  if (is_fold) return Finding::malformed;
  has_colon_ = has_colon_ || byte == ':';
  ++line_length_;
  return Finding::fine;
}

HeadScanner::Finding HeadScanner::see_line_end() {
  const bool is_request_line = lines_ == 0;
  const bool is_header = !is_request_line && line_length_ > 0;
  if ((is_header && !has_colon_) || (is_request_line && line_length_ == 0)) {
    return Finding::malformed;
  }
  line_length_ = 0;
  has_colon_ = false;
  return ++lines_ > kLinesMax ? Finding::too_many_lines : Finding::fine;
}

}  // namespace torchwatch::web
