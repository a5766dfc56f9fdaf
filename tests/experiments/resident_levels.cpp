// What a process's resident peak consists of, and what of it depends on the library file: run it
// with LD_LIBRARY_PATH set to a LibTorch tree's lib/, then to a fresh copy of that folder.
#include <iomanip>
#include <iostream>

#include "torchwatch/models/torch.hpp"
#include "torchwatch/runner/process_memory.hpp"

namespace {

using namespace torchwatch::runner;

constexpr int kIterations = 5;

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

/// A network of the first layers that come to mind; LibTorch's libraries hold the rest.
struct Network {
  torch::Tensor input = torch::randn({8, 3, 64, 64});
  torch::Tensor first = torch::randn({32, 3, 3, 3});
  torch::Tensor second = torch::randn({64, 32, 3, 3});
  torch::Tensor last = torch::randn({64, 10});

  void step() const {
    auto output = torch::conv2d(torch::conv2d(input, first).relu(), second).relu();
    output = output.mean({2, 3}).matmul(last).log_softmax(1);
    std::get<0>(output.max(1));
  }
};

}  // namespace

int main(int count, char**) {
  if (count != 1) {
    std::cerr << "usage: experiment_resident_levels\n"
                 "Prints the resident peak of five iterations over the level before them, what of\n"
                 "it are pages of files, and the rest, in MiB.\n";
    return 2;
  }
  const auto before = resident_bytes();
  const auto files_before = resident_file_bytes();
  if (!before || !files_before || !reset_resident_peak()) {
    std::cerr << "error: the kernel does not say here what is resident\n";
    return 1;
  }
  const Network network;
  for (int i = 0; i < kIterations; ++i) network.step();
  const auto peak = resident_peak_bytes().value_or(0) - *before;
  const auto files = resident_file_bytes().value_or(0) - *files_before;
  std::cout << std::fixed << std::setprecision(1) << "resident peak " << mib(peak) << ", files "
            << mib(files) << ", without them " << mib(peak - files) << '\n';
  return 0;
}
