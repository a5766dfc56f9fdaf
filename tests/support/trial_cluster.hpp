#pragma once

#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <sstream>

#include "temporary_folder.hpp"
#include "torchwatch/cluster/slurm_executor.hpp"
#include "torchwatch/platform/clock.hpp"
#include "torchwatch/platform/publish.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::test {

namespace fs = std::filesystem;

/// Runs a command of the trial cluster (node_kill, scancel, ...), which stands in its PATH.
inline int cluster_command(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str());
}

inline std::string said_by(const std::string& command) {
  std::string text;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (pipe != nullptr) pclose(pipe);
  return text;
}

/// Waits until something holds that comes about by other processes. False: it does not.
inline bool comes_true(const std::function<bool()>& holds) {
  constexpr std::chrono::milliseconds kLook{50};
  constexpr int kLooksMax = 1200;
  const platform::SystemClock clock;
  for (int i = 0; i < kLooksMax; ++i) {
    if (holds()) return true;
    clock.wait(kLook, {});
  }
  return false;
}

/// What a test has on the cluster: a fake build, runs that wait at a gate while it is closed, and
/// settings of an executor. Reached by several processes, so its parts are files.
struct Trial {
  explicit Trial(fs::path in) : folder(std::move(in)) {}

  fs::path folder;
  std::string name = "torchwatch-" + folder.filename().string();
  mutable std::mutex mutex;
  mutable std::string log;

  cluster::SlurmExecutor::Settings settings() const {
    constexpr std::size_t kScriptBytesMax = 64U << 10U;
    cluster::SlurmExecutor::Settings settings;
    settings.name = name;
    settings.options = {"--exclusive"};
    settings.program = TORCHWATCH_CARRY;
    settings.lane_script =
        platform::read_file(fs::path(TORCHWATCH_SOURCE_DIR) / "deploy" / "cluster" / "lane",
                            kScriptBytesMax)
            .value();
    settings.time = std::chrono::minutes(10);
    settings.queue_limit = std::chrono::seconds(150);
    settings.poll = std::chrono::milliseconds(100);
    settings.carry.scratch = folder / "scratch";
    settings.carry.sandbox = "none";
    settings.log = [this](const std::string& text) {
      const std::scoped_lock lock(mutex);
      log += text + "\n";
    };
    return settings;
  }

  /// A run that begins only when nothing lies at the gate, and writes a line when it is there.
  executor::RunSpec spec(const std::string& attempt) const {
    executor::RunSpec spec;
    spec.request.attempt = attempt;
    spec.request.benchmark = {.workload = "resnet18", .configuration = {}, .variant = {}};
    spec.runner = folder / "runner";
    spec.libraries = folder / "build" / "lib";
    return spec;
  }

  void close_gate() const { std::ofstream(folder / "gate") << ""; }
  void open_gate() const { fs::remove(folder / "gate"); }
  /// How many runs have come to the gate.
  int arrived() const {
    std::ifstream file(folder / "arrived");
    int lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
  }
  std::string jobs() const { return said_by("squeue -h -t PD,R -o '%i %T %N' -n " + name); }
  std::string logged() const {
    const std::scoped_lock lock(mutex);
    return log;
  }
  bool has_logged(const std::string& part) const {
    return logged().find(part) != std::string::npos;
  }
};

/// A trial of one test, with everything in place.
struct TrialOfTest : TemporaryFolder, Trial {
  TrialOfTest() : Trial(path()) {
    write("build/lib/libtorch_cpu.so", "library");
    write("build/lib/behaviour", "noise 0\n");
    const auto runner = write("runner", "#!/bin/sh\ncd '" + path().string() +
                                            "'\necho $$ >> arrived\n"
                                            "while [ -e gate ]; do sleep 0.05; done\n"
                                            "exec '" TORCHWATCH_SCRIPTED_RUNNER "' \"$@\"\n");
    fs::permissions(runner, fs::perms::owner_all);
  }
  TrialOfTest(const TrialOfTest&) = delete;
  TrialOfTest& operator=(const TrialOfTest&) = delete;
  ~TrialOfTest() {
    open_gate();
    cluster_command("scancel -n " + name);
  }

  process::ProcessRunner& processes() { return *processes_; }
  const platform::Clock& clock() const { return clock_; }

 private:
  std::unique_ptr<process::ProcessRunner> processes_ =
      process::make_process_runner("cluster test " + path().string());
  platform::SystemClock clock_;
};

}  // namespace torchwatch::test
