#include "attempt.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace torchwatch::executor {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> failed(const fs::path& path, const std::error_code& error) {
  return fail(ErrorCode::unavailable, "scratch folder " + path.string() + ": " + error.message());
}

/// A stream keeps no reason: the system's is the one of its last call, such as a full disk.
std::error_code error_of_stream() {
  return {errno == 0 ? EIO : errno, std::generic_category()};
}

Result<UniqueFd> make_pipe(const std::string& path) {
  UniqueFd pipe;
  if (mkfifo(path.c_str(), 0600) == 0) {
    // Open for reading as well: a pipe opened for writing alone waits for a reader.
    pipe.reset(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  }
  if (pipe.is_open()) return pipe;
  return fail(ErrorCode::unavailable,
              "pipe " + path + ": " + std::generic_category().message(errno));
}

}  // namespace

fs::path AttemptFolder::path_of(const fs::path& scratch, const RunSpec& spec) {
  return scratch / (std::string(kAttemptPrefix) + spec.request.attempt);
}

Result<AttemptFolder> AttemptFolder::create(const fs::path& scratch, const RunSpec& spec) {
  std::error_code error;
  AttemptFolder folder(path_of(scratch, spec));
  fs::remove_all(folder.path(), error);
  if (!error) fs::create_directories(folder.path(), error);
  if (!error && !spec.command) {
    fs::create_symlink(fs::absolute(spec.runner), folder.runner(), error);
  }
  if (!error && spec.command) fs::create_directory(folder.tree().parent_path(), error);
  if (!error && spec.command) {
    fs::create_symlink(fs::absolute(spec.libraries).parent_path(), folder.tree(), error);
  }
  if (!error) fs::create_symlink(fs::absolute(spec.libraries), folder.libraries(), error);
  if (error) return failed(folder.path(), error);
  // Not made durable: nobody reads it after a power cut.
  errno = 0;
  std::ofstream request(folder.request(), std::ios::binary);
  request << protocol::to_json(spec.request) << std::flush;
  if (!request) return failed(folder.request(), error_of_stream());
  return folder;
}

AttemptFolder::~AttemptFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<InterleavePipes> InterleavePipes::create(const std::array<protocol::Interleave, 2>& pipes) {
  InterleavePipes made;
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    TW_TRY(made.own_[i], make_pipe(pipes[i].own));
  }
  return made;
}

void InterleavePipes::send_ended(std::size_t index) const {
  const char message = protocol::Interleave::kEnded;
  // A pipe holds thousands of messages and a run gets a few dozen at most.
  [[maybe_unused]] const auto written = write(own_[1 - index].get(), &message, 1);
}

}  // namespace torchwatch::executor
