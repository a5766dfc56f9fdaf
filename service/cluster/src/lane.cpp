#include "torchwatch/cluster/lane.hpp"

#include <algorithm>

namespace torchwatch::cluster {
namespace {

bool is_older(const Job* a, const Job* b) {
  if (a->id.size() != b->id.size()) return a->id.size() < b->id.size();
  return a->id < b->id;
}

bool has_time(const Job& job, std::chrono::seconds needed) {
  return !job.left || *job.left >= needed;
}

}  // namespace

LaneStep next_step(const std::vector<Job>& jobs, std::chrono::seconds needed) {
  std::vector<const Job*> running;
  std::vector<const Job*> waiting;
  CancelJobs cancel;
  for (const auto& job : jobs) {
    if (job.state == JobState::running && !has_time(job, needed)) cancel.ids.push_back(job.id);
    if (job.state == JobState::running && has_time(job, needed)) running.push_back(&job);
    if (job.state == JobState::waiting) waiting.push_back(&job);
  }
  std::ranges::sort(running, is_older);
  std::ranges::sort(waiting, is_older);
  running.insert(running.end(), waiting.begin(), waiting.end());
  for (std::size_t i = 1; i < running.size(); ++i) cancel.ids.push_back(running[i]->id);
  if (!cancel.ids.empty()) return cancel;
  if (running.empty()) return SubmitJob{};
  const Job& kept = *running.front();
  if (kept.state == JobState::running) return UseJob{kept};
  if (is_hopeless(kept.reason)) return HopelessJob{kept};
  return WaitForJob{kept};
}

}  // namespace torchwatch::cluster
