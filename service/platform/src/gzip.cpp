#include "torchwatch/platform/gzip.hpp"

#include <zlib.h>

namespace torchwatch::platform {
namespace {

constexpr int kGzipWindowBits = 15 + 16;  // of zlib: the largest window, and a gzip header
constexpr int kGzipMemoryLevel = 8;

}  // namespace

std::string gzip(const std::string& text, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindowBits, kGzipMemoryLevel,
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

Result<std::string> gunzip(const std::string& compressed, std::size_t bytes_max) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) {
    return fail(ErrorCode::unavailable, "no memory to decompress it");
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  constexpr std::size_t kStep = std::size_t{1} << 20U;
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() <= bytes_max) {
    const auto done = out.size();
    out.resize(done + kStep);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream.avail_out = static_cast<uInt>(kStep);
    state = inflate(&stream, Z_NO_FLUSH);
    out.resize(done + kStep - stream.avail_out);
  }
  inflateEnd(&stream);
  if (out.size() > bytes_max) {
    return fail(ErrorCode::invalid,
                "it has more than " + std::to_string(bytes_max) + " bytes when decompressed");
  }
  if (state != Z_STREAM_END)
    return fail(ErrorCode::corrupt, "it is not in the gzip format, or cut off");
  return out;
}

}  // namespace torchwatch::platform
