#include "slurm_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace torchwatch::cluster {
namespace {

constexpr std::size_t kTextBytesMax = 1U << 20U;
constexpr std::chrono::seconds kAskLimit{30};
constexpr std::chrono::minutes kSendLimit{30};  // of one file, which may have gigabytes
/// What srun itself may take around the program: for the step's start and its end.
constexpr std::chrono::seconds kAround{30};
/// Longer than any job that torchwatch asks for.
constexpr std::chrono::hours kLongestJob{31 * 24};

/// Nothing else of the service's environment: SBATCH_..., SRUN_... and SQUEUE_... variables would
/// change what Slurm's programs do.
std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> made{{"LC_ALL", "C"}};
  for (const char* const name : {"PATH", "SLURM_CONF", "HOME"}) {
    if (const char* const value = std::getenv(name)) made[name] = value;
  }
  return made;
}

}  // namespace

SlurmClient::SlurmClient(process::ProcessRunner& processes) : processes_(processes) {}

process::ProcessSpec SlurmClient::call(const std::string& program,
                                       std::vector<std::string> arguments) const {
  process::ProcessSpec spec{};
  spec.program = program;
  spec.arguments = std::move(arguments);
  spec.environment = environment();
  spec.working_folder = "/";
  spec.time_limit = kAskLimit;
  spec.output_limit_bytes = kTextBytesMax;
  spec.label = program;
  return spec;
}

Result<std::string> SlurmClient::ask(const process::ProcessSpec& spec) const {
  auto outcome = processes_.run(spec);
  if (process::succeeded(outcome)) return std::move(outcome.output);
  const auto program = spec.program.string();
  if (std::holds_alternative<process::SpawnFailed>(outcome.end)) {
    return fail(ErrorCode::unavailable, program + " " + process::describe(outcome.end),
                "install Slurm's programs (slurm-client), or set [executor] kind = \"local\"");
  }
  const bool is_refused = cause_of(outcome.output) == Cause::refused;
  return fail(
      is_refused ? ErrorCode::invalid : ErrorCode::unavailable,
      program + ": " + last_message(outcome.output) + " (" + process::describe(outcome.end) + ")");
}

Result<std::string> SlurmClient::submit(std::vector<std::string> options,
                                        const std::string& script) const {
  options.insert(options.begin(), "--parsable");
  auto spec = call("sbatch", std::move(options));
  spec.input = script;
  TW_TRY(const auto answer, ask(spec));
  return parse_job_id(answer);
}

Result<std::vector<Job>> SlurmClient::jobs(const std::string& name) const {
  TW_TRY(const auto answer,
         ask(call("squeue", {"--noheader", "--name=" + name, "--user=" + std::to_string(geteuid()),
                             std::string("--format=") + kJobFormat})));
  return parse_jobs(answer);
}

Result<std::vector<NamedJob>> SlurmClient::jobs_beginning_with(const std::string& prefix) const {
  TW_TRY(const auto answer, ask(call("squeue", {"--noheader", "--user=" + std::to_string(geteuid()),
                                                std::string("--format=%j|") + kJobFormat})));
  std::vector<NamedJob> found;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    const auto bar = line.find('|');
    if (!line.starts_with(prefix) || bar == std::string::npos) continue;
    TW_TRY(auto jobs, parse_jobs(line.substr(bar + 1)));
    for (auto& job : jobs) {
      found.push_back({line.substr(prefix.size(), bar - prefix.size()), std::move(job)});
    }
  }
  return found;
}

Result<std::vector<Step>> SlurmClient::steps(const std::string& job) const {
  TW_TRY(const auto answer, ask(call("squeue", {"--noheader", "--steps", "--jobs=" + job,
                                                std::string("--format=") + kStepFormat})));
  return parse_steps(answer);
}

bool SlurmClient::is_drained(const std::string& node) const {
  const auto answer = ask(call("sinfo", {"--noheader", "--nodes=" + node, "--format=%T"}));
  return answer && answer->find("drain") != std::string::npos;
}

Status SlurmClient::cancel(const std::vector<std::string>& ids) const {
  if (ids.empty()) return {};
  auto arguments = ids;
  arguments.insert(arguments.begin(), "--quiet");
  TW_TRY_VOID(ask(call("scancel", std::move(arguments))));
  return {};
}

Status SlurmClient::send(const std::string& job, const std::filesystem::path& file,
                         const std::string& to, std::stop_token stop) const {
  auto spec = call("sbcast", {"--force", "--jobid=" + job, file.string(), to});
  spec.time_limit = kSendLimit;
  const auto outcome = processes_.run(spec, std::move(stop));
  if (process::succeeded(outcome)) return {};
  return fail(ErrorCode::unavailable, "sbcast of " + file.string() + ": " +
                                          last_message(outcome.output) + " (" +
                                          process::describe(outcome.end) + ")");
}

process::ProcessOutcome SlurmClient::run(const StepCall& step, std::stop_token stop) const {
  auto spec = call("srun", {"--quiet", "--jobid=" + step.job, "--nodes=1", "--ntasks=1",
                            "--overlap", "--immediate=" + std::to_string(step.start_limit.count()),
                            "--unbuffered", "--kill-on-bad-exit=1", "--export=NONE", "--chdir=/",
                            "--job-name=" + step.name, step.program.string()});
  spec.input_descriptor = step.input;
  spec.time_limit = kLongestJob;
  spec.on_output = step.on_output;
  spec.label = step.name;
  return processes_.run(spec, std::move(stop));
}

process::ProcessOutcome SlurmClient::run(const JobCall& job, std::stop_token stop) const {
  const auto minutes =
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::minutes>(job.time_limit).count());
  std::vector<std::string> arguments{"--quiet",
                                     "--nodes=1",
                                     "--ntasks=1",
                                     "--unbuffered",
                                     "--export=NONE",
                                     "--chdir=/",
                                     "--job-name=" + job.name,
                                     "--time=" + std::to_string(minutes)};
  arguments.insert(arguments.end(), job.options.begin(), job.options.end());
  arguments.insert(arguments.end(), {job.program.string(), job.argument});
  auto spec = call("srun", std::move(arguments));
  spec.input = job.input;
  spec.time_limit = job.queue_limit + job.time_limit + kAround;
  spec.output_limit_bytes = job.output_limit_bytes;
  spec.label = job.name;
  return processes_.run(spec, std::move(stop));
}

}  // namespace torchwatch::cluster
