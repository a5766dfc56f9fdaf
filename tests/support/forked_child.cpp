#include "forked_child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

namespace torchwatch::test {
namespace {

constexpr int kThrewStatus = 97;

int run_body(const std::function<int(int)>& body, int report) {
  try {
    return body(report);
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "child of the test: %s\n", thrown.what());
    return kThrewStatus;
  }
}

ChildEnd reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {-1, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

ForkedChild::ForkedChild(const std::function<int(int)>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("pipe failed");
  std::fflush(nullptr);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    ::close(ends[0]);
    ::_exit(run_body(body, ends[1]));  // none of the test's own ends: reports, temporary folders
  }
  ::close(ends[1]);
  report_ = ends[0];
}

ForkedChild::~ForkedChild() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    reap(pid_);
  }
  ::close(report_);
}

char ForkedChild::next_report() {
  char byte = 0;
  while (::read(report_, &byte, 1) < 0 && errno == EINTR) {
  }
  return byte;
}

ChildEnd ForkedChild::wait(std::string* report) {
  while (const char byte = next_report()) {
    if (report != nullptr) *report += byte;
  }
  return reap(std::exchange(pid_, -1));
}

}  // namespace torchwatch::test
