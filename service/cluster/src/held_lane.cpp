#include "held_lane.hpp"

#include <algorithm>
#include <set>

#include "torchwatch/orders/node_copies.hpp"

namespace torchwatch::cluster {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

/// As long as that a job that was found running is used without a look at the queue.
constexpr seconds kFresh{30};
constexpr int kLossesMax = 3;
constexpr const char* kRemedy =
    "correct partition, account, constraint, gres, time or options, or have the limit raised";
/// What srun and the network may take around an order.
constexpr seconds kAround{30};
/// How often a job's steps are looked at until all have ended.
constexpr int kLooksMax = 30;

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ",") + name;
  return list;
}

std::vector<std::string> ids_of(const std::vector<Step>& steps) {
  std::vector<std::string> ids;
  for (const auto& step : steps) ids.push_back(step.id);
  return ids;
}

/// The script with its settings in front: no variable of the environment has to reach the node.
std::string script_of(const SlurmExecutor::Settings& settings) {
  const auto end_of_first_line = settings.lane_script.find('\n') + 1;
  const auto look = std::clamp<std::int64_t>(settings.idle.count() / 4, 1, 10);
  return settings.lane_script.substr(0, end_of_first_line) +
         "idle=" + std::to_string(settings.idle.count()) + " look=" + std::to_string(look) + "\n" +
         settings.lane_script.substr(end_of_first_line);
}

}  // namespace

HeldLane::HeldLane(process::ProcessRunner& processes, const platform::Clock& clock,
                   const SlurmExecutor::Settings& settings)
    : client_(processes), clock_(clock), settings_(settings) {}

bool HeldLane::is_fresh(seconds needed) const {
  const auto now = clock_.monotonic_now();
  return !job_.empty() && now - looked_at_ < kFresh && has_time_for(needed);
}

bool HeldLane::has_time_for(seconds needed) const {
  return !ends_at_ || clock_.monotonic_now() + needed < *ends_at_;
}

Status HeldLane::make_ready(seconds needed, std::stop_token stop,
                            const std::function<void()>& waits) {
  if (needed > settings_.time) {
    return fail(ErrorCode::unavailable, "a run may take " + std::to_string(needed.count()) +
                                            " s, longer than an allocation of [slurm] time = " +
                                            std::to_string(settings_.time.count()) + " s");
  }
  if (is_fresh(needed)) return {};
  const auto since = clock_.monotonic_now();
  for (bool is_first = true; !stop.stop_requested(); is_first = false) {
    const auto status = look(needed);
    if (!status && status.error().code == ErrorCode::invalid) {
      // The configuration or the cluster is wrong, not what is measured: that can be taken up
      // again.
      return fail(status.error().as(ErrorCode::unavailable));
    }
    if (status && !job_.empty()) return {};
    if (!status) wait_for(status.error().text());
    if (clock_.monotonic_now() - since >= settings_.queue_limit) {
      return fail(ErrorCode::unavailable, "no node of the cluster for " +
                                              std::to_string(settings_.queue_limit.count()) +
                                              " s: " + waits_for_);
    }
    if (is_first) waits();
    clock_.wait(settings_.poll, stop);
  }
  return fail(ErrorCode::cancelled, "interrupted while a node was waited for");
}

/// The log has each reason once.
void HeldLane::wait_for(const std::string& why) {
  if (waits_for_ != why) settings_.log("waiting for a node: " + why);
  waits_for_ = why;
}

Status HeldLane::look(seconds needed) {
  const auto known = std::exchange(job_, {});
  TW_TRY(const auto jobs, client_.jobs(settings_.name));
  looked_at_ = clock_.monotonic_now();
  is_asked_for_ = is_asked_for_ || !jobs.empty();
  const auto step = next_step(jobs, needed);
  const auto* use = std::get_if<UseJob>(&step);
  if (use == nullptr) return follow(step);
  if (client_.is_drained(use->job.node)) {
    node_ = use->job.node;
    return give_back("it is drained");
  }
  if (use->job.id != known) return follow(step);
  job_ = known;
  return {};
}

Status HeldLane::follow(const LaneStep& step) {
  return std::visit(
      Match{[&](const UseJob& use) { return adopt(use.job); },
            [&](const SubmitJob&) { return submit(); },
            [&](const CancelJobs& cancel) {
              waits_for_ = "a job of this name ends";
              return client_.cancel(cancel.ids);
            },
            [&](const WaitForJob& wait) {
              // Nodes that were left out may be all that are up.
              const bool is_alone = wait.job.reason.starts_with("ReqNodeNotAvail");
              if (is_alone && !std::exchange(bad_nodes_, {}).empty()) {
                return client_.cancel({wait.job.id});
              }
              const auto why =
                  "job " + wait.job.id + " is " + wait.job.word + " (" + wait.job.reason + ")";
              wait_for(why);
              return Status{};
            },
            [&](const HopelessJob& hopeless) -> Status {
              TW_TRY_VOID(client_.cancel({hopeless.job.id}));
              // Nodes that were left out may be all that there are.
              if (!std::exchange(bad_nodes_, {}).empty()) return {};
              return fail(ErrorCode::invalid,
                          "Slurm never starts the job of [slurm]: " + hopeless.job.reason, kRemedy);
            }},
      step);
}

Status HeldLane::submit() {
  const auto minutes =
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::minutes>(settings_.time).count());
  std::vector<std::string> options{"--job-name=" + settings_.name, "--nodes=1", "--ntasks=1",
                                   "--no-requeue", "--output=/dev/null", "--error=/dev/null",
                                   "--chdir=/",
                                   // Anything else makes Slurm run the user's profile on the node
                                   // first. sbatch gets four variables, see SlurmClient.
                                   "--export=ALL", "--time=" + std::to_string(minutes)};
  options.insert(options.end(), settings_.options.begin(), settings_.options.end());
  if (!bad_nodes_.empty()) options.push_back("--exclude=" + list_of(bad_nodes_));
  is_asked_for_ = true;
  const auto job = client_.submit(std::move(options), script_of(settings_));
  if (job) {
    waits_for_ = "job " + *job + " was submitted";
    return {};
  }
  const bool is_of_excluding = !std::exchange(bad_nodes_, {}).empty();
  if (is_of_excluding) return fail(job.error().as(ErrorCode::unavailable));
  auto refusal = job.error().within("[slurm]");
  if (refusal.remedy.empty()) refusal.remedy = kRemedy;
  return fail(std::move(refusal));
}

/// Whoever used the job before may be dead while its step lives on.
Status HeldLane::adopt(const Job& job) {
  step_.reset();
  for (int i = 0; i < kLooksMax; ++i) {
    TW_TRY(const auto steps, client_.steps(job.id));
    if (steps.empty()) {
      job_ = job.id;
      node_ = job.node;
      ends_at_.reset();
      if (job.left) ends_at_ = clock_.monotonic_now() + *job.left;
      waits_for_.clear();
      settings_.log("holds node " + job.node + " by job " + job.id);
      return {};
    }
    TW_TRY_VOID(client_.cancel(ids_of(steps)));
    constexpr std::chrono::milliseconds kPause{500};
    clock_.wait(kPause, {});
  }
  node_ = job.node;
  return give_back("a step of job " + job.id + " does not end");
}

process::ProcessOutcome HeldLane::run(const orders::Order& order, seconds limit,
                                      std::stop_token stop) {
  if (!step_ || step_->has_ended()) {
    step_ = std::make_unique<OrderStep>(client_, StepCall{.job = job_,
                                                          .name = settings_.name,
                                                          .program = settings_.program,
                                                          .start_limit = settings_.start_limit,
                                                          .on_output = {}});
  }
  return step_->carry_out(order, settings_.start_limit + limit + kAround, std::move(stop));
}

Status HeldLane::send(const orders::Order& order, const orders::Lack& lack,
                      const std::stop_token& stop) {
  settings_.log("sends " + std::to_string(lack.hashes.size()) + " files to node " + node_);
  std::set<std::string> left(lack.hashes.begin(), lack.hashes.end());
  for (const auto& folder : order.copies) {
    for (const auto& file : folder.files) {
      if (left.erase(file.sha256) == 0) continue;
      const auto to = lack.folder / (file.sha256 + orders::kArriving);
      TW_TRY_VOID(client_.send(job_, folder.root / file.path, to.string(), stop));
    }
  }
  return {};
}

void HeldLane::end_step() {
  step_.reset();
  // The next look adopts the job anew: it cancels its steps and waits for their end.
  const auto steps = client_.steps(job_);
  if (steps) std::ignore = client_.cancel(ids_of(*steps));
  job_.clear();
}

void HeldLane::note_loss(Cause cause) {
  if (cause == Cause::unreachable || cause == Cause::job_gone) return;
  ++losses_in_a_row_;
  if (cause != Cause::node && losses_in_a_row_ < kLossesMax) return;
  losses_in_a_row_ = 0;
  std::ignore = give_back("orders are lost there");
}

/// The node is left out from now on, while there are others.
Status HeldLane::give_back(const std::string& why) {
  const bool is_new = !node_.empty() && std::ranges::find(bad_nodes_, node_) == bad_nodes_.end();
  if (is_new) bad_nodes_.push_back(node_);
  settings_.log("gives node " + node_ + " back: " + why);
  return release();
}

Status HeldLane::release() {
  step_.reset();
  job_.clear();
  if (!is_asked_for_) return {};
  TW_TRY(const auto jobs, client_.jobs(settings_.name));
  std::vector<std::string> ids;
  for (const auto& job : jobs) {
    if (job.state != JobState::ended) ids.push_back(job.id);
  }
  TW_TRY_VOID(client_.cancel(ids));
  is_asked_for_ = false;
  return {};
}

}  // namespace torchwatch::cluster
