// make_kit SOURCES STORE TREE WORKLOAD...: prints the path of the kit's runner. A process of its
// own, so that a test can let a failpoint kill it.
#include <cstdio>

#include "torchwatch/kits/kit_store.hpp"

int main(int argc, char** argv) {
  using namespace torchwatch;
  if (argc < 5) return 2;
  kits::KitStore::Settings settings;
  settings.sources = argv[1];
  settings.folder = argv[2];
  const auto processes = process::make_process_runner(std::string("make-kit-") + argv[2]);
  kits::KitStore store(settings, *processes);
  const auto tree = builds::inspect(argv[3]);
  const auto kit = tree ? store.kit_for(*tree, {argv + 4, argv + argc}, {})
                        : Result<kits::Kit>(fail(tree.error()));
  if (!kit) {
    std::fprintf(stderr, "%s\n", kit.error().message.c_str());
    return 3;
  }
  std::puts(kit->runner.c_str());
  return 0;
}
