#include "torchwatch/runner/run_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::runner {
namespace {

tl::unexpected<Error> system_error(const std::filesystem::path& path, const char* what) {
  return fail(ErrorCode::unavailable,
              std::string("cannot ") + what + " " + path.string() + ": " + std::strerror(errno));
}

bool write_whole(int file, std::string_view content) {
  while (!content.empty()) {
    const auto written = write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::filesystem::path partial_path(const std::filesystem::path& result) {
  return result.string() + ".partial";
}

Status write_result(const std::filesystem::path& path, std::string_view content) {
  const auto partial = partial_path(path);
  {
    const UniqueFd file(open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file.is_open()) return system_error(partial, "create");
    if (!write_whole(file.get(), content)) return system_error(partial, "write");
    if (fsync(file.get()) != 0) return system_error(partial, "sync");
  }
  if (std::rename(partial.c_str(), path.c_str()) != 0) return system_error(path, "rename to");
  return {};
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorCode::not_found, "cannot read " + path.string() + ": " + std::strerror(errno));
  }
  std::string content(bytes_max + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  if (content.size() > bytes_max) {
    return fail(ErrorCode::invalid,
                path.string() + " is larger than " + std::to_string(bytes_max) + " bytes");
  }
  return content;
}

Result<protocol::Request> read_request(const std::string& path) {
  TW_TRY(const std::string text, read_file(path, protocol::kRequestBytesMax));
  auto request = protocol::parse_request(text);
  if (!request) return fail(request.error().within(path));
  return request;
}

}  // namespace torchwatch::runner
