#pragma once

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "fake_clock.hpp"
#include "fake_process_runner.hpp"
#include "order_fixture.hpp"
#include "torchwatch/cluster/slurm_executor.hpp"

namespace torchwatch::test {

/// A Slurm in words: what each of its programs answers next; without an answer, what the queue of
/// `jobs` comes to.
struct FakeSlurm {
  using Answers = std::deque<process::ProcessOutcome>;
  FakeClock clock;
  std::vector<std::string> jobs;  ///< lines of squeue
  std::map<std::string, Answers> answers;
  std::vector<std::string> log;
  std::vector<orders::Order> orders;  ///< that reached a node
  std::function<std::string(const orders::Order&)> answers_orders = whole_answer;
  int submitted = 0;
  FakeProcessRunner processes{
      [this](const process::ProcessSpec& spec, std::stop_token) { return answer(spec); }};

  cluster::SlurmExecutor::Settings settings() {
    cluster::SlurmExecutor::Settings settings;
    settings.name = "torchwatch-test-0";
    settings.options = {"--partition=measure", "--exclusive"};
    settings.program = "/opt/torchwatch-carry";
    settings.lane_script = "#!/bin/sh\nexit\n";
    settings.queue_limit = std::chrono::seconds(60);
    settings.log = [this](const std::string& text) { log.push_back(text); };
    return settings;
  }

  process::ProcessOutcome answer(const process::ProcessSpec& spec) {
    const auto program = spec.program.string();
    if (auto& waiting = answers[program]; !waiting.empty() && program != "srun") {
      const auto next = waiting.front();
      waiting.pop_front();
      return next;
    }
    if (program == "sbatch") {
      const auto number = std::to_string(++submitted);
      jobs = {number + "|RUNNING|4:00:00|n" + number + "|None"};
      return ended(process::Exited{0}, number + "\n");
    }
    if (program == "scancel") jobs.clear();
    if (program == "squeue" && !has(spec, "--steps")) {
      std::string text;
      for (const auto& job : jobs) text += job + "\n";
      return ended(process::Exited{0}, text);
    }
    if (program == "srun") return step(spec);
    return ended(process::Exited{0});
  }

  /// Answers orders until there are no more, or an answer of srun is due: then it ends so.
  process::ProcessOutcome step(const process::ProcessSpec& spec) {
    while (const auto line = line_of(spec.input_descriptor)) {
      orders.push_back(orders::parse_order(*line).value());
      if (auto& waiting = answers["srun"]; !waiting.empty()) {
        auto next = std::move(waiting.front());
        waiting.pop_front();
        spec.on_output(std::exchange(next.output, {}));
        return next;
      }
      spec.on_output(answers_orders(orders.back()));
    }
    return ended(process::Exited{0});
  }

  static std::optional<std::string> line_of(int descriptor) {
    std::string line;
    for (char next = 0; read(descriptor, &next, 1) == 1; line += next) {
      if (next == '\n') return line;
    }
    return std::nullopt;
  }

  static bool has(const process::ProcessSpec& spec, const std::string& argument) {
    return std::ranges::find(spec.arguments, argument) != spec.arguments.end();
  }
  void says(const std::string& program, process::ProcessEnd end, const std::string& text) {
    answers[program].push_back(ended(end, text));
  }
  int calls(const std::string& program) const {
    const auto specs = processes.specs();
    return static_cast<int>(
        std::ranges::count_if(specs, [&](const auto& spec) { return spec.program == program; }));
  }
  bool ever_asked(const std::string& argument) const {
    const auto specs = processes.specs();
    return std::ranges::any_of(specs, [&](const auto& spec) { return has(spec, argument); });
  }
};

}  // namespace torchwatch::test
