#pragma once

#include <sys/stat.h>

#include <functional>

#include "fake_process_runner.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/executor/local_executor.hpp"
#include "torchwatch/platform/publish.hpp"

namespace torchwatch::test {

/// A scratch folder, a runner that could be executed, and two builds at paths of unequal length.
struct ExecutorFixture {
  TemporaryFolder folder;
  std::filesystem::path scratch = folder.path() / "scratch";

  executor::RunSpec spec(const std::string& attempt, const std::string& build = "a") const {
    executor::RunSpec spec;
    spec.request.attempt = attempt;
    spec.request.benchmark.workload = "resnet18";
    spec.runner = folder.write("kit-of-" + build + "/runner", "");
    chmod(spec.runner.c_str(), 0755);
    spec.libraries = folder.write(build + "/lib/libtorch_cpu.so", "").parent_path();
    return spec;
  }
};

/// A timing result that can be believed: three samples of a microsecond.
inline RunResult good_result(const std::string& attempt) {
  RunResult result;
  result.attempt = attempt;
  result.samples_ns = {1000, 1001, 1002};
  result.values[Metric::time] = 1001;
  return result;
}

/// A runner that writes `text` as its result and ends in the given way.
inline FakeProcessRunner::Script writes(std::string text,
                                        process::ProcessEnd end = process::Exited{0},
                                        std::string output = "") {
  return [=](const process::ProcessSpec& spec, std::stop_token) {
    static_cast<void>(platform::publish_file(spec.arguments.at(2), text));
    return ended(end, output);
  };
}

}  // namespace torchwatch::test
