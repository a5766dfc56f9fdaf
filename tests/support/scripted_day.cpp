#include "scripted_day.hpp"

#include <fstream>
#include <map>
#include <stdexcept>

namespace torchwatch::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraries[] = {"libtorch_cpu.so", "libtorch.so", "libc10.so"};

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

/// A recipe that does what ScriptedDay::publish does. A trailing line in a library is harmless to a
/// loader and makes the content differ for each behaviour.
std::string recipe_text() {
  return R"(#!/bin/sh
set -eu
behaviour=$(cd "$TORCHWATCH_SOURCE"; find aten -type f | LC_ALL=C sort | xargs cat)
case "$behaviour" in
  *unbuildable*) echo "error: no such operator" >&2; exit 125 ;;
  *fault*) echo "the compiler's host is gone" >&2; exit 1 ;;
esac
mkdir -p "$TORCHWATCH_PREFIX/lib" "$TORCHWATCH_PREFIX/include"
for name in libtorch_cpu.so libtorch.so libc10.so; do
  cp ")" FAKE_LIBRARY R"(" "$TORCHWATCH_PREFIX/lib/$name"
done
printf '%s\n' "$behaviour" >> "$TORCHWATCH_PREFIX/lib/libtorch.so"
printf '%s\n' "$behaviour" > "$TORCHWATCH_PREFIX/behaviour"
echo "$TORCHWATCH_BUILDER" > "$TORCHWATCH_PREFIX/builder"
echo 2.13.0 > "$TORCHWATCH_PREFIX/build-version"
echo "$TORCHWATCH_COMMIT" > "$TORCHWATCH_PREFIX/build-hash"
)";
}

std::string joined(const std::map<std::string, std::string>& sources) {
  std::string text;
  for (const auto& [file, lines] : sources) text += lines;
  if (!text.empty()) text.pop_back();  // as the recipe's $(cat ...) does
  return text;
}

}  // namespace

ScriptedDay::ScriptedDay(const fs::path& folder, const std::vector<ScriptedCommit>& commits)
    : folder_(folder) {
  fs::create_directories(folder / "pytorch.git");
  TestRepository repository(folder / "pytorch.git");
  std::map<std::string, std::string> sources;
  std::string first;
  std::int64_t time = 1'600'000'000;
  for (const auto& commit : commits) {
    const auto number = std::to_string(100 + shas_.size());
    TestCommit made;
    made.subject = commit.subject;
    made.committer_time = time += 600;
    if (commit.behaviour.empty()) {
      made.files["docs/" + number + ".md"] = commit.subject;
    } else {
      const auto file = "aten/" + (commit.file.empty() ? number : commit.file);
      made.files[file] = sources[file] = commit.behaviour + "\n";
    }
    shas_.push_back(repository.commit(made));
    if (first.empty()) first = joined(sources);
  }
  write(folder / "recipe.sh", recipe_text());
  fs::permissions(folder / "recipe.sh", fs::perms::owner_all);
  publish("2026-08-16", shas_.front(), first);
  publish("2026-08-17", shas_.back(), joined(sources));
}

void ScriptedDay::publish(const std::string& name, const std::string& sha,
                          const std::string& behaviour) {
  const auto build = folder_ / "nightlies" / name;
  for (const auto* library : kLibraries) {
    fs::create_directories(build / "lib");
    fs::copy_file(FAKE_LIBRARY, build / "lib" / library, fs::copy_options::overwrite_existing);
  }
  std::ofstream(build / "lib/libtorch.so", std::ios::app) << behaviour << '\n';
  fs::create_directories(build / "include");
  write(build / "behaviour", behaviour + "\n");
  write(build / "build-version", "2.13.0\n");
  write(build / "build-hash", sha + "\n");
}

config::Config ScriptedDay::config() const {
  return scripted_config(folder_);
}

config::Config scripted_config(const std::filesystem::path& folder) {
  config::Config config;
  config.folder = folder;
  config.storage.path = folder / "state/torchwatch.sqlite";
  config.channel.path = folder / "nightlies";
  config.source.repository = (folder / "pytorch.git").string();
  config.build.recipe = folder / "recipe.sh";
  config.build.cache = folder / "state/builds";
  config.build.timeout = std::chrono::seconds(60);
  config.executor.scratch = folder / "state/scratch";
  config.suite.workloads = {"dlrm", "soft_actor_critic"};
  config.suite.configurations = {{Device::cpu, Mode::train}, {Device::cpu, Mode::infer}};
  config.measure.place_libraries = false;
  config.detect.incident_traces = false;
  return config;
}

std::vector<ScriptedCommit> day_with_two_culprits() {
  return {{"Start of the day", "noise 0.01"},
          {"Explain how to build the docs", ""},
          {"Add an overload", "# overload"},
          {"Rework a header", "unbuildable"},
          {"Rework the header once more", "# header", "103"},
          {"Check all elements twice", "time soft_actor_critic cpu-train 1.5"},
          {"Correct a link", ""},
          {"Rename a variable", "# renamed"},
          {"Keep the last result", "leak dlrm cpu-train 4096"},
          {"Sort the change log", ""},
          {"Add a kernel for one shape", "# kernel"},
          {"Thank the contributors", ""}};
}

}  // namespace torchwatch::test
