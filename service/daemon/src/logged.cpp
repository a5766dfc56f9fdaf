#include "logged.hpp"

namespace torchwatch::daemon {
namespace {

std::int64_t ms_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

/// A child that ran to an end of its own, good or bad, is ordinary; one that the supervisor had to
/// end, or could not, is not.
log::Level level_of(const process::ProcessOutcome& outcome) {
  if (process::succeeded(outcome)) return log::Level::debug;
  if (std::holds_alternative<process::Abandoned>(outcome.end)) return log::Level::error;
  return log::Level::info;
}

}  // namespace

void LoggedProgress::comparison_started(storage::Id id) {
  activity_.comparison_started(id);
  shown_.comparison_started(id);
}

void LoggedProgress::comparison_ended() {
  activity_.comparison_ended();
  shown_.comparison_ended();
}

void LoggedProgress::phase_started(const std::string& what) {
  activity_.step_started(what);
  logger_.info(what);
  shown_.phase_started(what);
}

void LoggedProgress::long_step_started(comparison::LongStep kind, const std::string& what) {
  activity_.step_started(what);
  logger_.info(what);
  shown_.long_step_started(kind, what);
}

void LoggedProgress::progress(int done, int of, const std::string& detail) {
  shown_.progress(done, of, detail);
}

void LoggedProgress::log(const std::string& line) {
  logger_.info(line);
  shown_.log(line);
}

process::ProcessOutcome LoggedProcesses::run(const process::ProcessSpec& spec,
                                             std::stop_token stop) {
  const std::string program = spec.program.string();
  logger_.debug("child started", {{"program", program}, {"attempt", spec.label}});
  auto outcome = processes_->run(spec, std::move(stop));
  logger_.write(level_of(outcome), "child ended",
                {{"program", program},
                 {"attempt", spec.label},
                 {"end", process::describe(outcome.end)},
                 {"ms", ms_of(outcome.duration)}});
  return outcome;
}

bool LoggedChannel::note(const std::string& name, const std::string& fault) {
  const std::scoped_lock lock(mutex_);
  if (fault.empty()) return faults_.erase(name) > 0;
  auto& known = faults_[name];
  if (known == fault) return false;
  known = fault;
  return true;
}

Result<std::vector<channel::Offer>> LoggedChannel::list(std::stop_token stop) {
  auto offers = channel_->list(std::move(stop));
  const bool is_news = note("", offers ? "" : offers.error().text());
  if (!offers) {
    if (is_news) logger_.warning("builds cannot be listed: " + offers.error().text());
    return offers;
  }
  if (is_news) logger_.info("builds can be listed again");
  logger_.debug("builds listed", {{"builds", offers->size()}});
  return offers;
}

Result<builds::Tree> LoggedChannel::fetch(const channel::Offer& offer, std::stop_token stop) {
  const auto& name = offer.name;
  logger_.debug("fetch started", {{"build", name}});
  activity_.step_started("fetching " + name);
  auto tree = channel_->fetch(offer, std::move(stop));
  const bool is_news = note(name, tree ? "" : tree.error().text());
  if (tree) {
    logger_.info("build fetched", {{"build", name}, {"version", tree->version}});
  } else if (is_news) {
    logger_.warning("fetch failed: " + tree.error().text(), {{"build", name}});
  }
  return tree;
}

}  // namespace torchwatch::daemon
