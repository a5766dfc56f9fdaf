#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace torchwatch::runner {

/// Ends the process when time is up, even if it hangs in a library: a signal handler writes
/// `late_result` as the result file and exits with status 0, as a workload that does not end is a
/// result too. One at a time; the destructor disarms it.
class Deadline {
 public:
  Deadline(std::chrono::milliseconds limit, const std::filesystem::path& result,
           const std::string& late_result);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();
};

}  // namespace torchwatch::runner
