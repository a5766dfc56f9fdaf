// build_once RECIPE CACHE COMMIT...: builds commits at once and prints their folders. A process of
// its own, so that a test can let a failpoint kill it.
#include <cstdio>

#include "recipe_folder.hpp"

int main(int argc, char** argv) {
  using namespace torchwatch;
  if (argc < 4) return 2;
  builds::CommitBuilder::Settings settings;
  settings.recipe = argv[1];
  settings.folder = argv[2];
  const auto processes = process::make_process_runner(std::string("build-once-") + argv[2]);
  builds::CommitBuilder builder(settings, *processes, test::RecipeFolder::check_out);
  const auto built = builder.build_at_once({argv + 3, argv + argc}, std::nullopt, {});
  if (!built) {
    std::fprintf(stderr, "%s\n", built.error().message.c_str());
    return 3;
  }
  for (const auto& build : *built) {
    const auto* const tree = std::get_if<builds::Tree>(&build);
    std::puts(tree == nullptr ? "unbuildable" : tree->folder.c_str());
  }
  return 0;
}
