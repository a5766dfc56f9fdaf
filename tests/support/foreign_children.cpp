#include "foreign_children.hpp"

#include <tuple>
#include <utility>

#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/channel/channel.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/kits/kit_store.hpp"

namespace torchwatch::test {
namespace {

namespace fs = std::filesystem;

constexpr int kCannotBeBuilt = 125;

/// Starts the script in the place of every program, the first time.
class InPlaceOf final : public process::ProcessRunner {
 public:
  InPlaceOf(process::ProcessRunner& real, std::string script, fs::path sources)
      : real_(real), script_(std::move(script)), sources_(std::move(sources)) {}

  process::ProcessOutcome run(const process::ProcessSpec& asked, std::stop_token stop) override {
    // A kit asks the toolchain for its version before it compiles anything.
    if (asked.working_folder == sources_) return {.end = process::Exited{0}, .output = "1.0\n"};
    if (printed_.empty()) printed_ = real_.run(scripted(asked), std::move(stop)).output;
    return {.end = process::Exited{kCannotBeBuilt}, .output = {}};
  }

  const std::string& printed() const { return printed_; }

 private:
  process::ProcessSpec scripted(const process::ProcessSpec& asked) const {
    auto spec = asked;
    spec.program = "/bin/bash";
    spec.arguments = {"-c", script_};
    spec.output_limit_bytes = 1U << 20U;
    return spec;
  }

  process::ProcessRunner& real_;
  const std::string script_;
  const fs::path sources_;
  std::string printed_;
};

/// What a child is made from. Each call has a folder of its own to work in.
struct Making {
  const fs::path& laid_out;
  const sandbox::Sandbox& sandbox;
  process::ProcessRunner& processes;
  TemporaryFolder work{};
  builds::Tree build() const {
    builds::Tree tree;
    tree.folder = laid_out / "builds" / "own";
    return tree;
  }
};

// What becomes of the work is of no interest: every child ends with an error.

void start_recipe(const Making& with, bool has_network) {
  builds::CommitBuilder::Settings settings;
  settings.recipe = with.laid_out / "recipe";
  settings.folder = with.work.path() / "commits";
  settings.time_limit = std::chrono::seconds(60);
  settings.sandbox = with.sandbox;
  settings.profile.writable = {with.laid_out / "writable"};
  settings.profile.has_network = has_network;
  settings.environment = {"ASKED_FOR"};
  builds::CommitBuilder builder(settings, with.processes,
                                [](const std::string&, const fs::path&) { return Status{}; });
  std::ignore = builder.build(std::string(40, 'a'), with.build(), {});
}

void start_kit(const Making& with) {
  kits::KitStore::Settings settings;
  settings.sources = with.laid_out / "sources";
  settings.folder = with.work.path() / "kits";
  settings.time_limit = std::chrono::seconds(60);
  settings.sandbox = with.sandbox;
  std::ignore = kits::KitStore(settings, with.processes).kit_for(with.build(), {"alpha"}, {});
}

void start_run(const Making& with, Device device) {
  executor::LocalExecutor::Settings settings;
  settings.sandbox = with.sandbox;
  executor::RunSpec run;
  run.runner = with.laid_out / "kit" / "runner";
  run.libraries = with.build().folder / "lib";
  run.request.attempt = "attempt1";
  run.request.benchmark = {
      .workload = "alpha", .configuration = {device, Mode::infer}, .variant = {}};
  std::ignore =
      executor::LocalExecutor(with.processes, with.work.path() / "scratch", settings).run(run, {});
}

void start_pip(const Making& with) {
  channel::WheelIndexSettings settings;
  settings.program = with.laid_out / "sources" / "deploy" / "libtorch";
  settings.cache = with.work.path() / "releases";
  settings.sandbox = with.sandbox;
  std::ignore = channel::make_wheel_index_channel(settings, with.processes)->list({});
}

}  // namespace

const char* to_string(ForeignChild child) {
  constexpr std::array kNames{"recipe", "recipe with network", "kit", "run", "cuda run", "pip"};
  return kNames.at(static_cast<std::size_t>(child));
}

void lay_out_for_children(const TemporaryFolder& folder) {
  folder.write("builds/own/lib/libtorch_cpu.so", "own library");
  folder.write("builds/own/include/header.h", "own header");
  folder.write("builds/other/lib/libc10.so", "other library");
  for (const char* name : {"cmake/kit.cmake", "models/alpha.cpp", "runner/main.cpp",
                           "storage/records/record.hpp", "deploy/libtorch"}) {
    folder.write("sources/" + std::string(name), "source\n");
  }
  folder.write("sources/models/workloads.txt", "alpha alpha.cpp\n");
  for (const char* program : {"recipe", "kit/runner"}) {
    fs::permissions(folder.write(program, "#!/bin/sh\n"),
                    fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                        fs::perms::others_read | fs::perms::others_exec);
  }
  fs::create_directories(folder.path() / "writable");
  fs::permissions(folder.path() / "writable", fs::perms::all);
}

std::string printed_by(ForeignChild child, const fs::path& laid_out,
                       const sandbox::Sandbox& sandbox, process::ProcessRunner& real,
                       const std::string& script) {
  InPlaceOf processes(real, script, laid_out / "sources");
  const Making with{.laid_out = laid_out, .sandbox = sandbox, .processes = processes};
  switch (child) {
    case ForeignChild::recipe:
    case ForeignChild::recipe_with_network:
      start_recipe(with, child == ForeignChild::recipe_with_network);
      break;
    case ForeignChild::kit:
      start_kit(with);
      break;
    case ForeignChild::run:
    case ForeignChild::cuda_run:
      start_run(with, child == ForeignChild::run ? Device::cpu : Device::cuda);
      break;
    case ForeignChild::pip:
      start_pip(with);
      break;
  }
  return processes.printed();
}

}  // namespace torchwatch::test
