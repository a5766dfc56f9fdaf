// Passes failpoints in a process of its own: the environment that names them is read once a
// process, and a kill takes the process along.
//
//   pass NAME TIMES | publish-file PATH TEXT | publish-folder PATH FILE
//
// Exit status: how many errors there were.
#include <cstdlib>
#include <string>

#include "torchwatch/platform/failpoint.hpp"
#include "torchwatch/platform/publish.hpp"

namespace platform = torchwatch::platform;

namespace {

int pass(const char* name, int times) {
  int errors = 0;
  for (int i = 0; i < times; ++i) {
    const auto status = platform::failpoint(name);
    if (!status && status.error().code == torchwatch::ErrorCode::unavailable) ++errors;
  }
  return errors;
}

int publish_folder(const std::string& path, const std::string& file) {
  auto partial = platform::PartialFolder::create(path);
  if (!partial || !platform::publish_file(partial->path() / file, "x")) return 1;
  return partial->publish() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 99;
  const std::string verb = argv[1];
  if (verb == "pass") return pass(argv[2], std::atoi(argv[3]));
  if (verb == "publish-file") return platform::publish_file(argv[2], argv[3]) ? 0 : 1;
  if (verb == "publish-folder") return publish_folder(argv[2], argv[3]);
  return 99;
}
