// Runs a shell script in the sandbox of whoever calls it, so that a test can call it as another
// user and under other kernel settings.
//
//   confined FOLDER SCRIPT [network]
//
// The script may read FOLDER/read, but not FOLDER/read/token, and write FOLDER/write. Prints the
// variant of the sandbox, then what the script prints; without a sandbox, the reason, and ends with
// 3.
#include <cstdio>
#include <cstdlib>

#include "torchwatch/sandbox/sandbox.hpp"

using namespace torchwatch;

int main(int argc, char** argv) {
  if (argc < 3) return 99;
  const std::filesystem::path folder = argv[1];
  const auto processes = process::make_process_runner(folder.string());
  sandbox::Settings settings;
  settings.hidden = {folder / "read" / "token"};
  const char* const path = std::getenv("PATH");
  settings.search_path = path == nullptr ? "" : path;
  const auto opened = sandbox::Sandbox::open(settings, *processes);
  if (!opened) {
    std::printf("none: %s\n", opened.error().message.c_str());
    return 3;
  }
  std::printf("user namespace %s, own proc %s\n",
              opened->variant().has_user_namespace ? "yes" : "no",
              opened->variant().has_own_proc ? "yes" : "no");
  process::ProcessSpec spec{};
  spec.program = "bash";
  spec.arguments = {"-c", argv[2]};
  spec.environment = {{"PATH", "/usr/bin:/bin"}, {"FOLDER", folder.string()}};
  spec.working_folder = folder / "write";
  spec.time_limit = std::chrono::seconds(60);
  spec.output_limit_bytes = 1U << 20U;
  sandbox::Profile profile;
  profile.readable = {folder / "read"};
  profile.writable = {folder / "write"};
  profile.has_network = argc > 3;
  profile.tmp_limit_bytes = 1 << 20;
  if (const auto confined = opened->confine(spec, profile); !confined) return 98;
  const auto outcome = processes->run(spec);
  std::printf("%s%s\n", outcome.output.c_str(), process::describe(outcome.end).c_str());
  return 0;
}
