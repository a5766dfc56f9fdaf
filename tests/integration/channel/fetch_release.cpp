// fetch_release PYTHON PROGRAM CACHE [VERSION]: fetches one release from the wheel index and prints
// what its tree says of itself; without VERSION it lists the releases. A process of its own, so
// that a test can kill it; by hand it fetches from the real index. With TORCHWATCH_TEST_SANDBOX it
// confines pip, and ends with 77 where that is not possible; with TORCHWATCH_TEST_CUDA it fetches
// for GPUs, with TORCHWATCH_TEST_PYTHON for Python. With TORCHWATCH_TEST_ARTIFACTS, an address with
// {commit}, VERSION is a commit, whose build comes from there.
#include <cstdio>
#include <cstdlib>

#include "torchwatch/channel/artifacts.hpp"
#include "torchwatch/channel/channel.hpp"

namespace {

using namespace torchwatch;

int report(const Error& error) {
  std::fprintf(stderr, "%s: %s\n", std::string(to_string(error.code)).c_str(),
               error.message.c_str());
  return 3;
}

int list(channel::Channel& channel) {
  const auto versions = channel.list({});
  if (!versions) return report(versions.error());
  for (const auto& [version, fingerprint] : *versions) {
    std::printf("%s%s%s\n", version.c_str(), fingerprint.empty() ? "" : " ", fingerprint.c_str());
  }
  return 0;
}

int fetch(channel::Channel& channel, const std::string& version) {
  const auto tree = channel.fetch({version}, {});
  if (!tree) return report(tree.error());
  std::printf("%s\n%s\n%s\n", tree->folder.c_str(), tree->version.c_str(),
              tree->embedded_commit.c_str());
  return 0;
}

int bring(const channel::WheelIndexSettings& settings, const std::string& address,
          const std::string& commit, process::ProcessRunner& processes) {
  const auto tree = settings.cache / commit;
  std::filesystem::create_directories(tree);
  const auto others = channel::make_artifacts({.program = settings.program,
                                               .folder = settings.cache,
                                               .address = address,
                                               .python = settings.python,
                                               .sandbox = settings.sandbox},
                                              processes);
  const auto brought = others.bring(commit, tree, {});
  if (!brought) return report(brought.error());
  const auto found = builds::inspect(tree);
  if (!found) return report(found.error());
  std::printf("%s\n%s\n", found->embedded_commit.c_str(), found->origin.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  const auto processes = process::make_process_runner(std::string("fetch-release-") + argv[3]);
  channel::WheelIndexSettings settings;
  settings.python = argv[1];
  settings.program = argv[2];
  settings.cache = argv[3];
  settings.for_cuda = std::getenv("TORCHWATCH_TEST_CUDA") != nullptr;
  settings.with_python = std::getenv("TORCHWATCH_TEST_PYTHON") != nullptr;
  if (std::getenv("TORCHWATCH_TEST_SANDBOX") != nullptr) {
    sandbox::Settings sandboxed;
    sandboxed.search_path = process::kDefaultSearchPath;
    const auto opened = sandbox::Sandbox::open(sandboxed, *processes);
    if (!opened) return 77;
    settings.sandbox = *opened;
  }
  if (const char* const address = std::getenv("TORCHWATCH_TEST_ARTIFACTS"); address != nullptr) {
    return argc == 5 ? bring(settings, address, argv[4], *processes) : 2;
  }
  const auto channel = channel::make_wheel_index_channel(settings, *processes);
  return argc == 4 ? list(*channel) : fetch(*channel, argv[4]);
}
