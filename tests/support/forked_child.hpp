#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace torchwatch::test {

/// How a child ended.
struct ChildEnd {
  int exit_status = -1;  ///< -1 when it was killed
  int signal = 0;        ///< 0 when it exited
};

/// A copy of this process that runs one function and nothing else: tests kill it anywhere. Fork
/// while this process has no SQLite connection open and no second thread. Killed and reaped with
/// the object.
class ForkedChild {
 public:
  /// `body` gets a pipe's end to report on; what it returns is the exit status (an exception: 97).
  explicit ForkedChild(const std::function<int(int report)>& body);
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;
  ~ForkedChild();

  /// The next byte of its report; 0 once it has ended.
  char next_report();
  /// Waits for its end; `report` gets what was not read yet.
  ChildEnd wait(std::string* report = nullptr);

 private:
  pid_t pid_ = -1;
  int report_ = -1;
};

}  // namespace torchwatch::test
