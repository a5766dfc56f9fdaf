#include "torchwatch/runner/deadline.hpp"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "torchwatch/runner/run_files.hpp"

namespace torchwatch::runner {
namespace {

/// The handler's data, prepared in advance: a signal handler may neither allocate nor lock.
struct Late {
  std::string partial;
  std::string final;
  std::string content;
};
Late late;

extern "C" void write_late_result(int) {
  const int file = open(late.partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const auto size = static_cast<ssize_t>(late.content.size());
  if (file < 0 || write(file, late.content.data(), late.content.size()) != size) _exit(3);
  fsync(file);
  _exit(std::rename(late.partial.c_str(), late.final.c_str()) == 0 ? 0 : 3);
}

void set_timer(std::chrono::milliseconds limit) {
  itimerval timer{};
  timer.it_value.tv_sec = limit.count() / 1000;
  timer.it_value.tv_usec = limit.count() % 1000 * 1000;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

Deadline::Deadline(std::chrono::milliseconds limit, const std::filesystem::path& result,
                   const std::string& late_result) {
  late = {partial_path(result).string(), result.string(), late_result};
  std::signal(SIGALRM, write_late_result);
  set_timer(limit);
}

Deadline::~Deadline() {
  set_timer(std::chrono::milliseconds(0));
}

}  // namespace torchwatch::runner
