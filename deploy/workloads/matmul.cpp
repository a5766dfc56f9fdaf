// A workload of one's own for torchwatch, in C++ and without any library of torchwatch's: products
// of two matrices by the LibTorch of the build that is measured. It is loaded from the build's tree
// and called by its stable C interface, so one program measures every build.
//
//   g++ -std=c++17 -O2 -o matmul matmul.cpp -ldl
//   torchwatch workload verify --tree LIBTORCH ./matmul
//
// The contract is docs/external-workloads.md.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kSize = 96;

/// What follows `"name":` in the request, which torchwatch writes on one line without blanks.
std::string member(const std::string& request, const std::string& name) {
  const auto key = "\"" + name + "\":";
  const auto at = request.find(key);
  if (at == std::string::npos) return {};
  auto rest = request.substr(at + key.size());
  if (rest.front() == '"') return rest.substr(1, rest.find('"', 1) - 1);
  return rest.substr(0, rest.find_first_of(",}"));
}

std::int64_t number(const std::string& request, const std::string& name) {
  return std::atoll(member(request, name).c_str());
}

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// The functions of libtorch_cpu.so that are called (torch/csrc/inductor/aoti_torch/c/shim.h).
struct Torch {
  using Tensor = void*;
  std::int32_t (*float32)() = nullptr;
  std::int32_t (*cpu)() = nullptr;
  std::int32_t (*empty)(std::int64_t, const std::int64_t*, const std::int64_t*, std::int32_t,
                        std::int32_t, std::int32_t, Tensor*) = nullptr;
  std::int32_t (*zero)(Tensor) = nullptr;
  std::int32_t (*multiply)(Tensor, Tensor, Tensor) = nullptr;
  std::string problem;

  template <typename Function>
  void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr && problem.empty()) problem = std::string("the build has no ") + name;
  }

  Torch() {
    const char* const tree = std::getenv("TORCHWATCH_TREE");
    const auto file = std::string(tree == nullptr ? "." : tree) + "/lib/libtorch_cpu.so";
    void* const library = dlopen(file.c_str(), RTLD_NOW);
    if (library == nullptr) {
      problem = "cannot load the build's libtorch_cpu.so";
      return;
    }
    find(library, "aoti_torch_dtype_float32", float32);
    find(library, "aoti_torch_device_type_cpu", cpu);
    find(library, "aoti_torch_empty_strided", empty);
    find(library, "aoti_torch_zero_", zero);
    find(library, "aoti_torch_cpu_mm_out", multiply);
  }

  Tensor matrix() const {
    const std::int64_t sizes[] = {kSize, kSize};
    const std::int64_t strides[] = {kSize, 1};
    Tensor made = nullptr;
    empty(2, sizes, strides, float32(), cpu(), 0, &made);
    zero(made);
    return made;
  }
};

/// The other process of an interleaved pair: y: you may compute, d: I have measured everything.
class Turns {
 public:
  explicit Turns(const std::string& request) {
    const auto own = member(request, "own");
    if (own.empty()) return;
    own_ = open(own.c_str(), O_RDWR);
    other_ = open(member(request, "other").c_str(), O_RDWR);
    has_partner_ = own_ >= 0 && other_ >= 0;
    may_compute_ = member(request, "begins") == "true";
  }
  void acquire() {
    while (has_partner_ && !may_compute_) receive();
  }
  void hand_over() {
    if (!has_partner_) return;
    may_compute_ = false;
    send('y');
  }
  void finish() {
    if (other_ < 0) return;
    send('d');
    while (has_partner_) receive();
  }

 private:
  void receive() {
    char message = 'e';
    if (read(own_, &message, 1) != 1) message = 'e';
    may_compute_ = true;
    has_partner_ = message == 'y';
  }
  void send(char message) {
    if (write(other_, &message, 1) != 1) has_partner_ = false;
  }
  int own_ = -1;
  int other_ = -1;
  bool has_partner_ = false;
  bool may_compute_ = true;
};

struct Samples {
  std::vector<std::int64_t> ns;
  std::int64_t per_sample = 1;
};

Samples measure(const std::string& request, const Torch& torch) {
  Turns turns(request);
  turns.acquire();  // the partner warms up before this process makes its workload
  void* const left = torch.matrix();
  void* const right = torch.matrix();
  void* const product = torch.matrix();
  const auto time = [&](std::int64_t count) {
    const auto begin = now_ns();
    for (std::int64_t i = 0; i < count; ++i) torch.multiply(product, left, right);
    return std::max<std::int64_t>(1, now_ns() - begin);
  };
  const auto end = now_ns() + number(request, "time_ms") * 800'000;
  time(std::max<std::int64_t>(1, number(request, "warmup")));
  Samples samples;
  const auto least = number(request, "batch_below_ns");
  const auto is_filled = [&] { return time(samples.per_sample) >= least; };
  while (samples.per_sample < (1 << 20) && now_ns() < end) {
    if (is_filled() && is_filled()) break;  // once may be a disturbance
    samples.per_sample *= 2;
  }
  turns.hand_over();
  std::int64_t measured = 0;
  const auto count = [&] { return static_cast<std::int64_t>(samples.ns.size()); };
  while (count() < number(request, "iterations") && (samples.ns.empty() || now_ns() < end)) {
    if (measured >= number(request, "enough_ns") && count() >= number(request, "iterations_min"))
      break;
    turns.acquire();
    const auto elapsed = time(samples.per_sample);
    measured += elapsed;
    samples.ns.push_back(std::max<std::int64_t>(1, elapsed / samples.per_sample));
    turns.hand_over();
  }
  turns.finish();
  return samples;
}

std::int64_t median(std::vector<std::int64_t> ns) {
  std::sort(ns.begin(), ns.end());
  const auto middle = ns.size() / 2;
  return ns.size() % 2 == 1 ? ns[middle] : (ns[middle - 1] + ns[middle]) / 2;
}

std::string refusal(const std::string& request, const Torch& torch) {
  if (member(request, "pass") != "timing") return "only the pass timing is measured";
  if (member(request, "mode") != "infer") return "there is nothing to train";
  if (member(request, "device") != "cpu" || member(request, "precision") != "fp32")
    return "written for fp32 on a CPU";
  if (number(request, "batch") != 0) return "its matrices have one size";
  return torch.problem;
}

std::string answer(const std::string& request) {
  const Torch torch;
  auto result = "{\"schema\":1,\"attempt\":\"" + member(request, "attempt") + "\",";
  if (const auto reason = refusal(request, torch); !reason.empty())
    return result + "\"status\":\"unsupported\",\"reason\":\"" + reason + "\"}";
  const auto samples = measure(request, torch);
  result += "\"status\":\"ok\",\"samples_ns\":[";
  for (std::size_t i = 0; i < samples.ns.size(); ++i)
    result += (i == 0 ? "" : ",") + std::to_string(samples.ns[i]);
  return result + "],\"iterations_per_sample\":" + std::to_string(samples.per_sample) +
         ",\"values\":{\"time\":" + std::to_string(median(samples.ns)) + "}}";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || std::string(argv[1]) != "measure") {
    std::fprintf(stderr, "usage: %s measure REQUEST.json RESULT.json\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[2]);
  const std::string request(std::istreambuf_iterator<char>(file), {});
  const auto partial = std::string(argv[3]) + ".partial";
  std::ofstream(partial) << answer(request);
  return std::rename(partial.c_str(), argv[3]) == 0 ? 0 : 3;  // complete or absent
}
