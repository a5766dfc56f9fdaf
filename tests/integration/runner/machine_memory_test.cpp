#include "torchwatch/runner/machine_memory.hpp"

#include <catch2/catch.hpp>
#include <fstream>

using torchwatch::runner::machine_memory_available;
namespace fs = std::filesystem;

namespace {

/// A machine's /proc and /sys as far as they are read, removed at the end.
class Machine {
 public:
  Machine() {
    std::string name = fs::temp_directory_path() / "torchwatch-machine-XXXXXX";
    root_ = mkdtemp(name.data());
    write("proc/meminfo", "MemTotal:       2000 kB\nMemAvailable:   1000 kB\n");
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { fs::remove_all(root_); }

  void write(const fs::path& file, const char* text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::optional<std::int64_t> available() const { return machine_memory_available(root_); }

 private:
  fs::path root_;
};

}  // namespace

TEST_CASE("without control groups the kernel's word counts") {
  CHECK(Machine().available() == 1'024'000);
}

TEST_CASE("a group of the unified tree leaves its limit less its use, files given up") {
  const Machine machine;
  machine.write("proc/self/cgroup", "0::/user/job\n");
  machine.write("sys/fs/cgroup/user/job/memory.max", "900000\n");
  machine.write("sys/fs/cgroup/user/job/memory.current", "500000\n");
  machine.write("sys/fs/cgroup/user/job/memory.stat",
                "anon 300000\ninactive_file 50000\nactive_file 20000\n");
  CHECK(machine.available() == 470'000);
}

TEST_CASE("a group above counts where it leaves less") {
  const Machine machine;
  machine.write("proc/self/cgroup", "0::/user/job\n");
  machine.write("sys/fs/cgroup/user/job/memory.max", "max\n");
  machine.write("sys/fs/cgroup/user/job/memory.current", "500000\n");
  machine.write("sys/fs/cgroup/user/memory.max", "800000\n");
  machine.write("sys/fs/cgroup/user/memory.current", "700000\n");
  CHECK(machine.available() == 100'000);
}

TEST_CASE(
    "the memory controller of the older trees is read, also where a container hides its path") {
  const Machine machine;
  machine.write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/docker/a1\n0::/\n");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "600000\n");
  machine.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "200000\n");
  machine.write("sys/fs/cgroup/memory/memory.stat", "cache 1\ntotal_inactive_file 1000\n");
  CHECK(machine.available() == 401'000);
}

TEST_CASE("a group that uses more than it may leaves nothing") {
  const Machine machine;
  machine.write("proc/self/cgroup", "0::/\n");
  machine.write("sys/fs/cgroup/memory.max", "1000\n");
  machine.write("sys/fs/cgroup/memory.current", "2000\n");
  CHECK(machine.available() == 0);
}

TEST_CASE("this machine tells what it can give") {
  const auto available = machine_memory_available();
  REQUIRE(available.has_value());
  CHECK(*available > 0);
}
