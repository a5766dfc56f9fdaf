#include "torchwatch/runner/calibration.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>

namespace torchwatch::runner {
namespace {

constexpr int kRounds = 5;
constexpr int kSteps = 100'000;
constexpr std::size_t kCopiedBytes = std::size_t{4} << 20U;

template <typename Work>
std::int64_t least_ns_of(const Work& work) {
  auto least = std::numeric_limits<std::int64_t>::max();
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count());
  }
  return least;
}

void compute() {
  constexpr double kFactor = 0.999;
  volatile double value = 1;
  for (int step = 0; step < kSteps; ++step) value = value * kFactor + 1;
}

/// Pages of their own, all there at once: neither glibc's heap nor its thresholds notice.
class Pages {
 public:
  explicit Pages(std::size_t bytes) : bytes_(bytes) {
    auto* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (mapped != MAP_FAILED) data_ = static_cast<std::byte*>(mapped);
  }
  ~Pages() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};

}  // namespace

std::map<std::string, std::int64_t> calibration_times() {
  std::map<std::string, std::int64_t> times{{"calibration_arithmetic_ns", least_ns_of(compute)}};
  const Pages pages(2 * kCopiedBytes);
  if (pages.data() == nullptr) return times;
  times["calibration_copy_ns"] =
      least_ns_of([&] { std::memcpy(pages.data() + kCopiedBytes, pages.data(), kCopiedBytes); });
  return times;
}

}  // namespace torchwatch::runner
