// Starts a child of one kind as the service does, with a script in the place of its program, so
// that a test can call it as another user and under other kernel settings.
//
//   foreign_child KIND FOLDER SCRIPT
//
// KIND counts ForeignChild. FOLDER is laid out for children; FOLDER/readable is [sandbox] readable,
// FOLDER/readable/token is hidden. Prints what the script prints; without a sandbox, the reason,
// and ends with 3.
#include <cstdio>
#include <cstdlib>

#include "foreign_children.hpp"

using namespace torchwatch;

int main(int argc, char** argv) {
  if (argc < 4) return 99;
  const std::filesystem::path folder = argv[2];
  const auto processes = process::make_process_runner(folder.string());
  sandbox::Settings settings;
  settings.readable = {folder / "readable"};
  settings.link_targets = {folder / "builds"};
  settings.hidden = {folder / "readable" / "token"};
  const char* const path = std::getenv("PATH");
  settings.search_path = path == nullptr ? "" : path;
  const auto opened = sandbox::Sandbox::open(settings, *processes);
  if (!opened) {
    std::printf("none: %s\n", opened.error().message.c_str());
    return 3;
  }
  const auto kind = test::kForeignChildren.at(static_cast<std::size_t>(std::atoi(argv[1])));
  std::printf("%s", test::printed_by(kind, folder, *opened, *processes, argv[3]).c_str());
  return 0;
}
