#include "order_step.hpp"

#include <fcntl.h>

#include <array>
#include <utility>

namespace torchwatch::cluster {
namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

OrderStep::OrderStep(const SlurmClient& client, StepCall call) {
  std::array<int, 2> ends{-1, -1};
  std::ignore = pipe2(ends.data(), O_CLOEXEC);
  input_.reset(ends[0]);
  orders_.reset(ends[1]);
  // A step that has not started yet reads nothing: the pipe takes a whole order all the same.
  fcntl(orders_.get(), F_SETPIPE_SZ, static_cast<int>(orders::kOrderBytesMax));
  fcntl(orders_.get(), F_SETFL, O_NONBLOCK);
  call.input = input_.get();
  call.on_output = [this](std::string_view text) { hear(text); };
  step_ = std::jthread([this, client, call = std::move(call)](const std::stop_token& stop) {
    note_end(client.run(call, stop));
  });
}

OrderStep::~OrderStep() {
  orders_.reset();
  step_.request_stop();
  step_.join();
}

bool OrderStep::has_ended() const {
  const std::scoped_lock lock(mutex_);
  return end_.has_value();
}

process::ProcessOutcome OrderStep::carry_out(const orders::Order& order, std::chrono::seconds limit,
                                             std::stop_token stop) {
  const auto begun = SteadyClock::now();
  std::unique_lock lock(mutex_);
  awaited_ = &order;
  heard_.clear();
  line_at_ = 0;
  is_answered_ = false;
  process::ProcessOutcome outcome;
  if (!end_ && !send(to_json(order))) {
    outcome.end = process::Lost{"the step does not read its orders"};
    return outcome;
  }
  changed_.wait_for(lock, stop, limit, [&] {
    return is_answered_ || end_.has_value() || heard_.size() > orders::kAnswerBytesMax;
  });
  awaited_ = nullptr;
  outcome.end = end_of_wait(stop);
  outcome.output = std::exchange(heard_, {});
  outcome.duration = SteadyClock::now() - begun;
  return outcome;
}

/// Whatever the step does after its answer: the answer counts.
process::ProcessEnd OrderStep::end_of_wait(const std::stop_token& stop) const {
  if (is_answered_) return process::Exited{0};
  if (end_) return end_->end;
  if (stop.stop_requested()) return process::Cancelled{};
  if (heard_.size() > orders::kAnswerBytesMax) return process::OutputLimit{};
  return process::TimedOut{};
}

bool OrderStep::send(const std::string& line) const {
  return write(orders_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

void OrderStep::hear(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (heard_.size() > orders::kAnswerBytesMax) return;
  heard_ += text;
  for (auto end = heard_.find('\n', line_at_); end != std::string::npos;
       end = heard_.find('\n', line_at_)) {
    const auto line = std::string_view(heard_).substr(line_at_, end - line_at_);
    is_answered_ = is_answered_ || (awaited_ != nullptr && orders::ends_answer(*awaited_, line));
    line_at_ = end + 1;
  }
  changed_.notify_all();
}

void OrderStep::note_end(process::ProcessOutcome outcome) {
  const std::scoped_lock lock(mutex_);
  end_ = std::move(outcome);
  changed_.notify_all();
}

}  // namespace torchwatch::cluster
