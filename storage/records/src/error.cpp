#include "torchwatch/records/error.hpp"

namespace torchwatch {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::not_found:
      return "not found";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::timed_out:
      return "timed out";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::failed:
      return "failed";
    case ErrorCode::corrupt:
      return "corrupt";
    case ErrorCode::damaged:
      return "damaged";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

std::string Error::text() const {
  if (remedy.empty()) return message;
  return message + (message.find('\n') == std::string::npos ? "; " : "\n") + remedy;
}

}  // namespace torchwatch
