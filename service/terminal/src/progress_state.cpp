#include "torchwatch/terminal/progress_state.hpp"

namespace torchwatch::terminal {
namespace {

constexpr std::size_t kRemarksKept = 5;

}  // namespace

void ProgressState::begin(const std::string& stage) {
  stage_ = stage;
  part_.clear();
  amount_.clear();
}

void ProgressState::advance(int done, int of, const std::string& detail) {
  part_ = detail;
  amount_ = std::to_string(done) + "/" + (of > 0 ? std::to_string(of) : "?");
}

void ProgressState::remember(const std::string& remark) {
  remarks_.push_back(remark);
  if (remarks_.size() > kRemarksKept) remarks_.pop_front();
}

std::vector<std::string> ProgressState::lines(const std::string& left) const {
  auto now = stage_.empty() ? "nothing is being done" : stage_;
  std::string separator = ": ";
  for (const auto& part : {amount_, left, part_}) {
    if (part.empty()) continue;
    now += separator + part;
    separator = ", ";
  }
  std::vector<std::string> lines{now};
  for (const auto& remark : remarks_) lines.push_back("before: " + remark);
  return lines;
}

void UnshownProgress::comparison_ended() {
  const std::scoped_lock lock(mutex_);
  state_.begin("");
}

void UnshownProgress::phase_started(const std::string& what) {
  const std::scoped_lock lock(mutex_);
  state_.begin(what);
}

void UnshownProgress::progress(int done, int of, const std::string& detail) {
  const std::scoped_lock lock(mutex_);
  state_.advance(done, of, detail);
}

void UnshownProgress::log(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  state_.remember(line);
}

std::vector<std::string> UnshownProgress::state() const {
  const std::scoped_lock lock(mutex_);
  return state_.lines();
}

}  // namespace torchwatch::terminal
