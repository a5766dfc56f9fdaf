#include "torchwatch/cluster/job_runner.hpp"

#include <algorithm>

#include "slurm_client.hpp"
#include "torchwatch/orders/order.hpp"

namespace torchwatch::cluster {
namespace {

/// How often the queue is looked at for a job that ends.
constexpr int kLooksMax = 20;
/// A byte of output may take six in JSON.
constexpr std::size_t kEscaped = 6;
constexpr std::size_t kAroundOutput = 64U << 10U;

process::ProcessOutcome ended_as(process::ProcessEnd end) {
  process::ProcessOutcome outcome{};
  outcome.end = std::move(end);
  return outcome;
}

}  // namespace

JobRunner::JobRunner(process::ProcessRunner& processes, const platform::Clock& clock,
                     Settings settings)
    : client_(std::make_unique<SlurmClient>(processes)),
      clock_(clock),
      settings_(std::move(settings)) {}

JobRunner::~JobRunner() = default;

process::ProcessOutcome JobRunner::run(const process::ProcessSpec& spec, std::stop_token stop) {
  const auto name = settings_.name + "-" + spec.label;
  const orders::ProcessOrder order{.id = name + "-" + std::to_string(++tries_),
                                   .spec = spec,
                                   .uses_all_cores = settings_.uses_all_cores};
  // What a service that was killed has left may still be at work.
  if (const auto ended = end_jobs(name); !ended) {
    return ended_as(process::Lost{ended.error().text()});
  }
  const auto job = client_->run(
      JobCall{.name = name,
              .options = settings_.options,
              .program = settings_.program,
              .argument = "process",
              .input = to_json(order),
              .time_limit = std::chrono::ceil<std::chrono::seconds>(spec.time_limit),
              .queue_limit = settings_.queue_limit,
              .output_limit_bytes = kEscaped * spec.output_limit_bytes + kAroundOutput},
      stop);
  if (auto outcome = orders::parse_process_end(order, job.output)) {
    outcome->duration = job.duration;
    return *std::move(outcome);
  }
  // The job of an srun that was killed lives on.
  std::ignore = end_jobs(name);
  if (std::holds_alternative<process::Cancelled>(job.end)) return ended_as(process::Cancelled{});
  const auto reason = last_message(job.output) + " (srun: " + process::describe(job.end) + ")";
  settings_.log("job " + name + " was lost: " + reason);
  const bool is_refused = cause_of(job.output) == Cause::refused;
  if (is_refused) return ended_as(process::SpawnFailed{"[slurm] build_options: " + reason});
  return ended_as(process::Lost{reason});
}

/// Ends the jobs of that name, and waits a while for their end.
Status JobRunner::end_jobs(const std::string& name) const {
  for (int i = 0; i < kLooksMax; ++i) {
    TW_TRY(const auto jobs, client_->jobs(name));
    if (jobs.empty()) return {};
    std::vector<std::string> ids;
    for (const auto& job : jobs) {
      if (job.state != JobState::ended) ids.push_back(job.id);
    }
    TW_TRY_VOID(client_->cancel(ids));
    clock_.wait(settings_.poll, {});
  }
  return {};
}

}  // namespace torchwatch::cluster
