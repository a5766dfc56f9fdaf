#include "attempt_folder.hpp"

#include <fstream>

namespace torchwatch::executor {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> failed(const fs::path& path, const std::error_code& error) {
  return fail(ErrorCode::unavailable, "scratch folder " + path.string() + ": " + error.message());
}

}  // namespace

fs::path AttemptFolder::path_of(const fs::path& scratch, const RunOrder& order) {
  return scratch / (std::string(kAttemptPrefix) + order.request.attempt);
}

Result<AttemptFolder> AttemptFolder::create(const fs::path& scratch, const RunOrder& order) {
  std::error_code error;
  AttemptFolder folder(path_of(scratch, order));
  fs::remove_all(folder.path(), error);
  if (!error) fs::create_directories(folder.path(), error);
  if (!error) fs::create_symlink(fs::absolute(order.runner), folder.runner(), error);
  if (!error) fs::create_symlink(fs::absolute(order.libraries), folder.libraries(), error);
  if (error) return failed(folder.path(), error);
  // Not published durably: nobody reads it after a power cut.
  std::ofstream request(folder.request(), std::ios::binary);
  request << protocol::to_json(order.request) << std::flush;
  if (!request) return failed(folder.request(), std::make_error_code(std::errc::io_error));
  return folder;
}

AttemptFolder::~AttemptFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace torchwatch::executor
