#include "torchwatch/platform/gzip.hpp"

#include <zlib.h>

namespace torchwatch::platform {
namespace {

/// Measured time counts here: the first levels take most of what there is to take.
constexpr int kGzipLevel = 3;
constexpr int kGzipWindowBits = 15 + 16;  // of zlib: the largest window, and a gzip header
constexpr int kGzipMemoryLevel = 8;

}  // namespace

std::string gzip(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, kGzipLevel, Z_DEFLATED, kGzipWindowBits, kGzipMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return "";
  }
  std::string out(deflateBound(&stream, text.size()), '\0');
  // zlib's interface takes what it only reads as not constant.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(is_whole ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

}  // namespace torchwatch::platform
