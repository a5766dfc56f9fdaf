#include "torchwatch/cluster/slurm_executor.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "held_lane.hpp"
#include "torchwatch/digest/sha256.hpp"

namespace torchwatch::cluster {
namespace {

using std::chrono::seconds;

constexpr int kTriesMax = 3;
constexpr int kSendsMax = 2;
/// What a node does around a run: makes fresh copies of libraries, ends and judges the process.
constexpr seconds kAroundRun{90};

/// As for a run on this machine (LocalExecutor::Settings).
constexpr seconds kRounding{1};

/// The limits of an order: interleaved runs live side by side.
seconds limit_of(const executor::RunBlock& block) {
  const std::size_t at_once = block.is_in_pairs ? 2 : 1;
  seconds sum{0};
  for (std::size_t i = 0; i < block.runs.size(); i += at_once) {
    std::int64_t longest = 0;
    for (std::size_t j = i; j < std::min(i + at_once, block.runs.size()); ++j) {
      longest = std::max(longest, block.runs[j].request.limits.time_ms);
    }
    sum += std::chrono::ceil<seconds>(std::chrono::milliseconds(longest)) + kAroundRun;
  }
  return sum;
}

std::string spoken(const process::ProcessOutcome& step, const orders::Answer& answer) {
  return last_message(answer.messages) + " (srun: " + process::describe(step.end) + ")";
}

/// Slurm's memory limit ends the whole step: that says something of the runs, not of the node.
std::vector<executor::RunOutcome> killed(const orders::Order& order, const std::string& messages) {
  const executor::RunFailure failure{
      .reason = "ended by Slurm's memory limit: " + last_message(messages),
      .output = {},
      .kind = executor::FailureKind::killed};
  return std::vector<executor::RunOutcome>(order.block.runs.size(), failure);
}

/// Stands between a class and the number of its lane: no name of a class has it, nor has the name
/// of a build's job.
constexpr char kOfClass = '.';

std::string without_number(const std::string& name) {
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

SlurmExecutor::Settings settings_of_lane(const LaneClass& of, int number) {
  auto settings = of.settings;
  // The first keeps its name, by which an older torchwatch may have left it.
  if (number > 0) settings.name = without_number(settings.name) + std::to_string(number);
  if (of.name.empty()) return settings;
  settings.log = [log = settings.log, name = of.name](const std::string& text) {
    log("class " + name + ": " + text);
  };
  return settings;
}

/// The fact by which a node is of another class than the runs want.
std::optional<std::string> other_class(const orders::Order& order, const orders::Answer& answer) {
  for (std::size_t i = 0; i < answer.outcomes.size(); ++i) {
    const auto* result = std::get_if<RunResult>(&answer.outcomes[i]);
    if (result == nullptr) continue;
    const auto difference =
        class_difference(order.block.runs[i].machine_class, result->environment.facts);
    if (difference) return difference;
  }
  return std::nullopt;
}

}  // namespace

/// The held lane, which only this file uses.
class SlurmExecutor::Lane : public HeldLane {
 public:
  using HeldLane::HeldLane;
};

/// How the step took an order.
struct SlurmExecutor::Said {
  process::ProcessOutcome step;
  orders::Answer answer;
};

/// What a step came to that did not end its order.
struct SlurmExecutor::Loss {
  std::string reason;
  Cause cause = Cause::unknown;
  ErrorCode code = ErrorCode::unavailable;
};

SlurmExecutor::SlurmExecutor(process::ProcessRunner& processes, const platform::Clock& clock,
                             Settings settings)
    : settings_(std::move(settings)), lane_(std::make_unique<Lane>(processes, clock, settings_)) {}

SlurmExecutor::~SlurmExecutor() {
  // A controller that cannot be reached ends the job itself once it has been idle.
  std::ignore = release();
}

Status SlurmExecutor::release() {
  const std::scoped_lock one_order(mutex_);
  return lane_->release();
}

std::string SlurmExecutor::node() {
  const std::scoped_lock one_order(mutex_);
  return lane_->node();
}

Result<executor::RunOutcome> SlurmExecutor::run(const executor::RunSpec& spec,
                                                std::stop_token stop) {
  TW_TRY(auto outcomes, carry_out({.runs = {spec}}, std::move(stop)));
  return std::move(outcomes.front());
}

Result<std::array<executor::RunOutcome, 2>> SlurmExecutor::run_pair(
    std::array<executor::RunSpec, 2> specs, std::stop_token stop) {
  executor::RunBlock pair{.runs = {std::move(specs[0]), std::move(specs[1])}, .is_in_pairs = true};
  TW_TRY(auto outcomes, carry_out(std::move(pair), std::move(stop)));
  return std::array{std::move(outcomes[0]), std::move(outcomes[1])};
}

Result<std::vector<executor::RunOutcome>> SlurmExecutor::run_block(executor::RunBlock block,
                                                                   std::stop_token stop) {
  if (is_one_order(block)) return carry_out(std::move(block), std::move(stop));
  return Executor::run_block(std::move(block), std::move(stop));
}

/// A job near its end may have time for each run of a block and not for all of them.
bool SlurmExecutor::is_one_order(const executor::RunBlock& block) const {
  const std::scoped_lock one_order(mutex_);
  const auto limit = limit_of(block);
  return block.runs.size() <= orders::kRunsMax && limit <= settings_.time &&
         lane_->has_time_for(limit);
}

Result<std::string> SlurmExecutor::hold(seconds longest, const std::function<void()>& waits,
                                        std::stop_token stop) {
  const std::scoped_lock one_order(mutex_);
  TW_TRY_VOID(lane_->make_ready(longest + kAroundRun, std::move(stop), waits));
  return lane_->node();
}

/// What a lane measures on one node it does not measure on another.
Status SlurmExecutor::require_node(const std::string& wanted) const {
  if (wanted.empty() || wanted == lane_->node()) return {};
  return fail(ErrorCode::conflict, "node " + wanted + " was given back meanwhile");
}

std::optional<SlurmExecutor::Loss> SlurmExecutor::loss_of(const process::ProcessOutcome& step,
                                                          const orders::Answer& answer,
                                                          const orders::Order& order) {
  if (answer.is_whole()) {
    const auto other = other_class(order, answer);
    if (!other) return std::nullopt;
    return Loss{"the node is of another machine class than the runs before: " + *other, Cause::node,
                ErrorCode::conflict};
  }
  if (!answer.refusal.empty()) return Loss{answer.refusal, Cause::node};
  if (std::holds_alternative<process::TimedOut>(step.end)) {
    return Loss{"the step did not end within its limits", Cause::node};
  }
  return Loss{spoken(step, answer), cause_of(answer.messages)};
}

/// What the node lacks is sent, and the order with it once more.
SlurmExecutor::Said SlurmExecutor::ask(const orders::Order& order, seconds limit,
                                       const std::stop_token& stop) {
  for (int sends = 0;; ++sends) {
    Said said{.step = lane_->run(order, limit, stop), .answer = {}};
    said.answer = orders::parse_answer(order, said.step.output, said.step.duration + kRounding);
    if (said.answer.lack.hashes.empty()) return said;
    const Status sent = sends < kSendsMax
                            ? lane_->send(order, said.answer.lack, stop)
                            : fail(ErrorCode::unavailable, "does not keep what it is sent");
    if (sent) continue;
    said.answer.refusal = sent.error().text();
    return said;
  }
}

Result<std::vector<executor::RunOutcome>> SlurmExecutor::carry_out(executor::RunBlock block,
                                                                   std::stop_token stop) {
  const std::scoped_lock one_order(mutex_);
  const auto limit = limit_of(block);
  const auto node = block.runs.front().node;
  const int tries = node.empty() ? kTriesMax : 1;
  orders::Order order{.id = {}, .block = std::move(block), .settings = settings_.carry};
  if (settings_.copies) {
    TW_TRY(order.copies, orders::folders_of(order.block));
  }
  Loss loss;
  for (int attempt = 1; attempt <= tries; ++attempt) {
    TW_TRY_VOID(lane_->make_ready(limit, stop));
    TW_TRY_VOID(require_node(node));
    // Each try has a name of its own: what an earlier one still says does not count.
    order.id = order.block.runs.front().request.attempt + "-" + std::to_string(attempt);
    auto [step, answer] = ask(order, limit, stop);
    const auto lost = loss_of(step, answer, order);
    if (!lost) {
      lane_->note_success();
      return std::move(answer.outcomes);
    }
    lane_->end_step();
    if (std::holds_alternative<process::Cancelled>(step.end) || stop.stop_requested()) {
      return fail(ErrorCode::cancelled, "the run was cancelled");
    }
    loss = *lost;
    if (loss.cause == Cause::memory) return killed(order, answer.messages);
    settings_.log("an order was lost on node " + lane_->node() + ": " + loss.reason);
    lane_->note_loss(loss.cause);
  }
  if (tries == 1) return fail(loss.code, "lost on node " + node + ": " + loss.reason);
  return fail(ErrorCode::unavailable,
              "lost " + std::to_string(tries) + " times on the cluster: " + loss.reason);
}

SlurmLanes::SlurmLanes(process::ProcessRunner& processes, const platform::Clock& clock,
                       const std::vector<LaneClass>& classes) {
  std::vector<RoutedExecutor::Route> routes;
  for (const auto& of : classes) {
    const auto first = lanes_.size();
    for (int i = 0; i < of.count; ++i) {
      lanes_.push_back(
          {of.name, std::make_unique<SlurmExecutor>(processes, clock, settings_of_lane(of, i))});
    }
    routes.push_back({of.name, of.configurations, lanes_[first].executor.get()});
  }
  first_lanes_ = std::make_unique<RoutedExecutor>(std::move(routes));
}

Result<std::string> SlurmLanes::hold(int number, seconds longest,
                                     const std::function<void()>& waits, std::stop_token stop) {
  return lane(number).hold(longest, waits, std::move(stop));
}

void SlurmLanes::give_back(int number) {
  // A controller that cannot be reached ends the job itself once it has been idle.
  std::ignore = lane(number).release();
}

std::string lane_name(const std::filesystem::path& database, const std::string& machine_class) {
  constexpr std::size_t kDigits = 12;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  digest::Sha256 owner;
  owner.add_field(host.data());
  owner.add_field(std::filesystem::absolute(database).lexically_normal().string());
  const auto service = "torchwatch-" + owner.hex().substr(0, kDigits) + "-";
  return service + (machine_class.empty() ? "" : machine_class + kOfClass) + "0";
}

std::string lane_text(const std::string& end_of_name) {
  const auto number = without_number(end_of_name).size();
  if (number == end_of_name.size()) return {};
  const auto text = "lane " + end_of_name.substr(number);
  if (number == 0) return text;
  if (end_of_name[number - 1] != kOfClass) return {};
  return text + " of " + end_of_name.substr(0, number - 1);
}

}  // namespace torchwatch::cluster
