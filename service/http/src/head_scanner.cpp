#include "head_scanner.hpp"

#include <cctype>
#include <charconv>
#include <utility>

namespace torchwatch::http {
namespace {

constexpr std::size_t kNameMax = 32;
constexpr std::size_t kRangeLineMax = 128;

}  // namespace

HeadScanner::Scan HeadScanner::see(char byte) {
  if (after_cr_ != (byte == '\n')) return Scan::malformed;
  after_cr_ = byte == '\r';
  if (byte == '\r') return Scan::fine;
  if (byte == '\n') return see_line_end();
  ++line_length_;
  return is_allowed_in_line(byte) ? Scan::fine : Scan::malformed;
}

bool HeadScanner::is_allowed_in_line(char byte) {
  if (byte == '\0') return false;
  const bool is_request_line = lines_ == 0;
  if (is_request_line) return true;
  const bool is_folded = line_length_ == 1 && (byte == ' ' || byte == '\t');
  if (is_folded) return false;
  if (!has_colon_) {
    has_colon_ = byte == ':';
    if (!has_colon_ && name_.size() < kNameMax) {
      name_ += static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
    }
    return true;
  }
  if (name_ == "range") return line_length_ <= kRangeLineMax;
  const bool is_framing =
      name_ == "content-length" || name_ == "transfer-encoding" || name_ == "host";
  return !is_framing || byte != '%';
}

HeadScanner::Scan HeadScanner::see_line_end() {
  const bool is_request_line = lines_ == 0;
  const bool is_header = !is_request_line && line_length_ > 0;
  if ((is_header && !has_colon_) || (is_request_line && line_length_ == 0)) {
    return Scan::malformed;
  }
  is_whole_ = line_length_ == 0;
  line_length_ = 0;
  name_.clear();
  has_colon_ = false;
  return ++lines_ > kLinesMax ? Scan::too_many_lines : Scan::fine;
}

bool ChunkScanner::see(char byte) {
  if (data_left_ > 0) {
    --data_left_;
    return true;
  }
  line_ += byte;
  if (byte != '\n') return true;
  const std::string line = std::exchange(line_, {});
  if (std::exchange(is_after_data_, !is_after_data_)) return line == "\r\n";
  const auto digits = line.find_first_not_of("0123456789abcdefABCDEF");
  const bool is_size = digits >= 1 && digits <= 16 && (line[digits] == ';' || line[digits] == '\r');
  if (!is_size || line.find('\r') != line.size() - 2) return false;
  std::from_chars(line.data(), line.data() + digits, data_left_, 16);
  return true;
}

}  // namespace torchwatch::http
