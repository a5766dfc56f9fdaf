// A device's day of known truth: a kernel that spins, copies of a known size, a host that waits.
// The profile's figures are compared with the device's own events.

#include <c10/core/StreamGuard.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "torchwatch/activity/profile.hpp"
#include "torchwatch/models/torch.hpp"
#include "torchwatch/records/statistics.hpp"
#include "torchwatch/torch/libtorch.hpp"

namespace {

using namespace torchwatch;

constexpr std::int64_t kCopyBytes = std::int64_t{256} << 20;
constexpr std::int64_t kIdleNs = 20'000'000;
// 15 to 40 ms at the clocks of today's GPUs, longer than the copy at 16 GB/s.
constexpr std::int64_t kSpinCycles = 40'000'000;
constexpr std::int64_t kToleratedMillionths = 20'000;
constexpr int kWarmup = 5;
constexpr int kIterations = 10;

void spin_on_device(std::int64_t cycles) {
  using Sleep = void(std::int64_t);
  // By name, as libtorch_cuda is not linked.
  auto* sleep = reinterpret_cast<Sleep*>(dlsym(RTLD_DEFAULT, "_ZN2at4cuda5sleepEl"));
  if (sleep == nullptr) throw std::runtime_error("this LibTorch has no at::cuda::sleep");
  sleep(cycles);
}

void wait_on_host(std::int64_t ns) {
  const auto end = activity::monotonic_ns() + ns;
  while (activity::monotonic_ns() < end) continue;
}

/// Work of the device, timed by its own events.
class Timed {
 public:
  explicit Timed(std::function<void()> work) : work_(std::move(work)) {}
  void start() {
    if (!timer_) timer_ = runner::make_device_timer(models::Device::cuda);
    timer_->start();
    work_();
    timer_->stop();
  }
  std::int64_t elapsed_ns() const { return timer_ ? timer_->elapsed_ns() : 0; }

 private:
  std::function<void()> work_;
  std::unique_ptr<runner::DeviceTimer> timer_;
};

struct Expected {
  std::int64_t active_ns = 0;
  std::int64_t copy_ns = 0;
};

/// One iteration of known truth; each scene is a process of its own.
class Scene {
 public:
  virtual ~Scene() = default;
  virtual void step() = 0;
  /// After the device has done the step.
  virtual Expected expected() const = 0;
  virtual std::int64_t copied_bytes() const { return 0; }

 protected:
  Timed kernel_{[] { spin_on_device(kSpinCycles); }};
  Timed transfer_{[this] { target_.copy_(source_, /*non_blocking=*/true); }};

 private:
  torch::Tensor source_ =
      torch::empty({kCopyBytes}, torch::TensorOptions(torch::kUInt8).pinned_memory(true));
  torch::Tensor target_ =
      torch::empty({kCopyBytes}, torch::TensorOptions(torch::kUInt8).device(torch::kCUDA));
};

class KernelThenIdle final : public Scene {
  void step() override {
    kernel_.start();
    runner::synchronise(models::Device::cuda);
    wait_on_host(kIdleNs);
  }
  Expected expected() const override { return {.active_ns = kernel_.elapsed_ns()}; }
};

class CopyThenIdle final : public Scene {
  void step() override {
    transfer_.start();
    runner::synchronise(models::Device::cuda);
    wait_on_host(kIdleNs);
  }
  Expected expected() const override { return {.copy_ns = transfer_.elapsed_ns()}; }
  std::int64_t copied_bytes() const override { return kCopyBytes; }
};

class KernelThenCopy final : public Scene {
  void step() override {
    kernel_.start();
    transfer_.start();
  }
  Expected expected() const override {
    return {.active_ns = kernel_.elapsed_ns(), .copy_ns = transfer_.elapsed_ns()};
  }
  std::int64_t copied_bytes() const override { return kCopyBytes; }
};

/// The copy runs beside the kernel, on a stream of its own; only what is longer shows.
class CopyBehindKernel final : public Scene {
  void step() override {
    kernel_.start();
    const c10::StreamGuard aside(side_);
    transfer_.start();
  }
  Expected expected() const override {
    const auto hidden = kernel_.elapsed_ns();
    return {.active_ns = hidden,
            .copy_ns = std::max<std::int64_t>(0, transfer_.elapsed_ns() - hidden)};
  }
  std::int64_t copied_bytes() const override { return kCopyBytes; }

  c10::Stream side_ = c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA)
                          .getStreamFromGlobalPool(c10::Device(c10::DeviceType::CUDA, 0));
};

using MakeScene = std::unique_ptr<Scene> (*)();
template <typename T>
std::unique_ptr<Scene> make() {
  return std::make_unique<T>();
}
const std::map<std::string, MakeScene>& scenes() {
  static const std::map<std::string, MakeScene> all{{"kernel-then-idle", make<KernelThenIdle>},
                                                    {"copy-then-idle", make<CopyThenIdle>},
                                                    {"kernel-then-copy", make<KernelThenCopy>},
                                                    {"copy-behind-kernel", make<CopyBehindKernel>}};
  return all;
}

std::int64_t millionths(const std::vector<double>& shares) {
  constexpr double kMillion = 1e6;
  return std::llround(median(shares) * kMillion);
}

/// Expected shares of each iteration, by the device's events and the host's clock.
class Truth {
 public:
  void begin() { begin_ns_ = activity::monotonic_ns(); }
  void end(const Scene& scene) {
    const auto wall = static_cast<double>(activity::monotonic_ns() - begin_ns_);
    const auto expected = scene.expected();
    active_.push_back(static_cast<double>(expected.active_ns) / wall);
    copy_.push_back(static_cast<double>(expected.copy_ns) / wall);
  }
  std::int64_t active() const { return millionths(active_); }
  std::int64_t copy() const { return millionths(copy_); }

 private:
  std::int64_t begin_ns_ = 0;
  std::vector<double> active_;
  std::vector<double> copy_;
};

bool print_share(const std::string& name, std::int64_t expected, std::int64_t measured) {
  const bool holds = std::abs(expected - measured) <= kToleratedMillionths;
  constexpr double kMillionthsPerPercent = 1e4;
  std::cout << "  " << name << ": expected "
            << static_cast<double>(expected) / kMillionthsPerPercent << " %, measured "
            << static_cast<double>(measured) / kMillionthsPerPercent << " %"
            << (holds ? "\n" : "  BEYOND 2 POINTS\n");
  return holds;
}

bool print_bytes(const Scene& scene, const activity::Profile& profile) {
  const auto found = profile.breakdown.bytes.find(activity::Kind::host_to_device);
  const auto measured = found == profile.breakdown.bytes.end() ? 0 : found->second;
  const bool holds = measured == scene.copied_bytes();
  std::cout << "  bytes to the device: expected " << scene.copied_bytes() << ", measured "
            << measured << (holds ? "\n" : "  NOT EQUAL\n");
  return holds;
}

int play(const std::string& name, MakeScene make_scene) {
  auto trace = activity::Trace::begin();
  if (!trace) {
    std::cerr << "experiment_known_device_time: " << trace.error().message << "\n";
    return 3;
  }
  runner::initialize(models::Device::cuda);
  const auto scene = make_scene();
  Truth truth;
  bool is_warm = false;
  const activity::Work work{.step =
                                [&] {
                                  truth.begin();
                                  scene->step();
                                },
                            .synchronise =
                                [&] {
                                  runner::synchronise(models::Device::cuda);
                                  if (is_warm) truth.end(*scene);
                                  is_warm = true;
                                }};
  const auto profile = activity::profile(**trace, work, kWarmup, kIterations);
  if (!profile) {
    std::cerr << "experiment_known_device_time: " << profile.error().message << "\n";
    return 1;
  }
  std::cout << name << " (CUPTI " << (*trace)->cupti_version() << ", " << profile->breakdown.kernels
            << " kernels)\n";
  const auto& measured = profile->median_shares;
  const auto idle = 1'000'000 - truth.active() - truth.copy();
  const bool active_holds = print_share("active", truth.active(), measured.active);
  const bool copy_holds = print_share("copy", truth.copy(), measured.copy);
  const bool idle_holds = print_share("idle", idle, measured.idle);
  const bool bytes_hold = print_bytes(*scene, *profile);
  return active_holds && copy_holds && idle_holds && bytes_hold ? 0 : 1;
}

int wrong_use() {
  std::cerr << "usage: experiment_known_device_time SCENE\nscenes:";
  for (const auto& [name, make_scene] : scenes()) std::cerr << " " << name;
  std::cerr << "\nExit status: 0 all within 2 points, 1 not, 3 no device to record.\n";
  return 2;
}

}  // namespace

int main(int count, char** words) {
  const auto found = scenes().find(count == 2 ? words[1] : "");
  if (found == scenes().end()) return wrong_use();
  try {
    return play(found->first, found->second);
  } catch (const std::exception& error) {
    std::cerr << "experiment_known_device_time: " << error.what() << "\n";
    return 1;
  }
}
