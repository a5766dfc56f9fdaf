// fetch_release PYTHON CACHE VERSION: fetches one release from the wheel index and prints what its
// tree says of itself. A process of its own, so that a test can let a failpoint kill it; by hand it
// fetches from the real index.
#include <cstdio>

#include "torchwatch/channel/channel.hpp"

int main(int argc, char** argv) {
  using namespace torchwatch;
  if (argc != 4) return 2;
  const auto processes = doors::make_process_runner(std::string("fetch-release-") + argv[2]);
  channel::WheelIndexSettings settings;
  settings.cache = argv[2];
  settings.python = argv[1];
  const auto tree = channel::make_wheel_index_channel(settings, *processes)->fetch(argv[3], {});
  if (!tree) {
    std::fprintf(stderr, "%s\n", tree.error().message.c_str());
    return 3;
  }
  std::printf("%s\n%s\n%s\n%s\n", tree->folder.c_str(), tree->version.c_str(),
              tree->embedded_commit.c_str(), tree->has_cuda ? "cuda" : "cpu");
  return 0;
}
