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

void LoggedProgress::phase_started(const std::string& what) {
  logger_.info(what);
  shown_.phase_started(what);
}

void LoggedProgress::long_step_started(comparison::LongStep kind, const std::string& what) {
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

Result<std::vector<std::string>> LoggedChannel::list(std::stop_token stop) {
  auto names = channel_->list(std::move(stop));
  if (names) {
    logger_.debug("builds listed", {{"builds", names->size()}});
  } else {
    logger_.warning("builds cannot be listed: " + names.error().message);
  }
  return names;
}

Result<builds::Tree> LoggedChannel::fetch(const std::string& name, std::stop_token stop) {
  logger_.debug("fetch started", {{"build", name}});
  auto tree = channel_->fetch(name, std::move(stop));
  if (tree) {
    logger_.info("build fetched", {{"build", name}, {"version", tree->version}});
  } else {
    logger_.warning("fetch failed: " + tree.error().message, {{"build", name}});
  }
  return tree;
}

}  // namespace torchwatch::daemon
