#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "fake_slurm.hpp"
#include "node_copies.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/digest/sha256.hpp"

using namespace torchwatch;
using cluster::NodeCopies;
namespace fs = std::filesystem;

namespace {

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The service's machine with two builds that share a library, a kit, and CUDA beside one of them.
struct Machine : test::TemporaryFolder {
  Machine() {
    for (const char* const build : {"a", "b"}) {
      write_file(path() / build / "torch/lib/libtorch.so", std::string("torch of ") + build);
      write_file(path() / build / "torch/lib/libgomp.so.1", "gomp");
      write_file(path() / build / "torch/lib/libtorch.a", "not loaded");
      fs::create_symlink("libgomp.so.1", path() / build / "torch/lib/libgomp.so");
    }
    write_file(path() / "a/nvidia/cublas/lib/libcublas.so.13", "cublas");
    write_file(path() / "a/nvidia/cublas/include/cublas.h", "not loaded");
    write_file(path() / "kits/1/runner", "runner");
  }
  executor::RunBlock block() const {
    executor::RunBlock block{.is_in_pairs = true};
    for (const char* const build : {"a", "b"}) {
      block.runs.push_back(test::cluster_run(build));
      block.runs.back().libraries = path() / build / "torch/lib";
      block.runs.back().runner = path() / "kits/1/runner";
    }
    return block;
  }
  fs::path scratch() const { return path() / "scratch"; }
};

/// Does what sbcast does.
void send(const std::vector<cluster::CopiedFolder>& folders, const std::string& sha256,
          const NodeCopies& copies) {
  for (const auto& folder : folders) {
    for (const auto& file : folder.files) {
      if (file.sha256 != sha256) continue;
      const auto to = copies.contents() / (sha256 + cluster::kArriving);
      fs::copy_file(folder.root / file.path, to, fs::copy_options::overwrite_existing);
    }
  }
}

}  // namespace

TEST_CASE("what runs load is named once: libraries, those of CUDA beside them, runners") {
  const Machine machine;
  const auto folders = cluster::folders_of(machine.block()).value();
  REQUIRE(folders.size() == 3);
  std::vector<std::string> names;
  for (const auto& file : folders[0].files) names.push_back(file.path.string());
  CHECK(names == std::vector<std::string>{"nvidia/cublas/lib/libcublas.so.13",
                                          "torch/lib/libgomp.so", "torch/lib/libgomp.so.1",
                                          "torch/lib/libtorch.so"});
  CHECK(folders[1].files.size() == 1);
  CHECK(folders[1].files[0].path == "runner");
  CHECK(folders[2].files.size() == 3);
  CHECK(folders[0].key() != folders[2].key());
}

TEST_CASE("a copy is what was sent, under the names of the service's machine") {
  const Machine machine;
  auto block = machine.block();
  const auto folders = cluster::folders_of(block).value();
  const auto copies = NodeCopies::open(machine.scratch()).value();
  const auto missing = copies.missing(folders).value();
  CHECK(missing.size() == 5);  // both builds have the same gomp, under two names
  for (const auto& hash : missing) send(folders, hash, copies);
  REQUIRE(copies.missing(folders).value().empty());
  REQUIRE(copies.place(folders, block));
  fs::remove_all(machine.path() / "a");
  fs::remove_all(machine.path() / "b");
  fs::remove_all(machine.path() / "kits");
  CHECK(text_of(block.runs[0].libraries / "libtorch.so") == "torch of a");
  CHECK(text_of(block.runs[1].libraries / "libtorch.so") == "torch of b");
  CHECK(text_of(block.runs[0].libraries / "libgomp.so") == "gomp");
  CHECK(text_of(block.runs[0].libraries / "../../nvidia/cublas/lib/libcublas.so.13") == "cublas");
  CHECK(text_of(block.runs[1].runner) == "runner");
  CHECK(fs::equivalent(block.runs[0].libraries / "libgomp.so.1",
                       block.runs[1].libraries / "libgomp.so.1"));
  SECTION("another order finds it there") {
    CHECK(copies.missing(folders).value().empty());
  }
}

TEST_CASE("content that is not what its name says is asked for again, and never used") {
  const Machine machine;
  auto block = machine.block();
  const auto folders = cluster::folders_of(block).value();
  const auto copies = NodeCopies::open(machine.scratch()).value();
  const auto wanted = copies.missing(folders).value();
  for (const auto& hash : wanted) send(folders, hash, copies);
  const auto cut = copies.contents() / (wanted.front() + cluster::kArriving);
  write_file(cut, "cu");
  CHECK(copies.missing(folders).value() == std::vector{wanted.front()});
  CHECK_FALSE(fs::exists(cut));
}

TEST_CASE("copies beyond the limit go, those that were used least recently first") {
  const Machine machine;
  const auto copies = NodeCopies::open(machine.scratch()).value();
  const auto both = machine.block();
  std::vector<std::vector<cluster::CopiedFolder>> builds;
  for (const auto& run : both.runs) {
    executor::RunBlock block{.runs = {run}};
    builds.push_back(cluster::folders_of(block).value());
    const auto missing = copies.missing(builds.back()).value();
    for (const auto& hash : missing) send(builds.back(), hash, copies);
    REQUIRE(copies.missing(builds.back()).value().empty());
    REQUIRE(copies.place(builds.back(), block));
  }
  const auto used = fs::file_time_type::clock::now();
  for (std::size_t i = 0; i < builds.size(); ++i) {
    const auto folder = machine.scratch() / "folders" / builds[i].front().key();
    fs::last_write_time(folder, used + std::chrono::seconds(i));
  }
  copies.keep_within(30);
  CHECK(copies.missing(builds[1]).value().empty());
  // What both had is there still, as the other copy has it.
  CHECK(copies.missing(builds[0]).value().size() == 2);
}

TEST_CASE("an order names its copies, and a node that leads elsewhere is not followed") {
  const Machine machine;
  auto order = test::cluster_order({"a", "b"});
  order.copies = cluster::folders_of(machine.block()).value();
  const auto read = cluster::parse_order(cluster::to_json(order)).value();
  REQUIRE(read.copies.size() == 3);
  CHECK(read.copies[0].root == order.copies[0].root);
  CHECK(read.copies[0].key() == order.copies[0].key());

  const auto known = order.copies[0].files[0].sha256;
  const auto unknown = digest::sha256_hex("of nobody");
  const auto line = cluster::lack_line(order, {.folder = "/scratch", .hashes = {unknown, known}});
  CHECK(cluster::ends_answer(order, line.substr(0, line.size() - 1)));
  const auto answer = cluster::parse_answer(order, line, std::chrono::seconds(1));
  CHECK_FALSE(answer.is_whole());
  CHECK(answer.lack.folder == "/scratch");
  CHECK(answer.lack.hashes == std::vector{known});

  for (const char* const path : {"../x", "/etc/passwd", "a/../../x", ""}) {
    INFO(path);
    order.copies[0].files[0].path = path;
    CHECK(cluster::parse_order(cluster::to_json(order)).error().code == ErrorCode::invalid);
  }
}

TEST_CASE("what a node lacks is sent to it, once, and the order with it again") {
  const Machine machine;
  const auto run = machine.block().runs[0];
  test::FakeSlurm slurm;
  auto settings = slurm.settings();
  settings.copies = true;
  int lacks = 1;
  slurm.answers_orders = [&](const cluster::Order& order) {
    if (lacks-- <= 0) return test::whole_answer(order);
    return cluster::lack_line(order,
                              {.folder = "/disk", .hashes = {order.copies[0].files[0].sha256}});
  };
  cluster::SlurmExecutor executor(slurm.processes, slurm.clock, settings);
  SECTION("it is there then") {
    REQUIRE(executor.run(run, {}));
    CHECK(slurm.orders.size() == 2);
    CHECK(slurm.calls("sbcast") == 1);
    const auto& [path, hash] = slurm.orders[0].copies[0].files[0];
    CHECK(slurm.ever_asked("/disk/" + hash + ".arriving"));
    CHECK(slurm.ever_asked((machine.path() / "a" / path).string()));
    REQUIRE(executor.run(run, {}));
    CHECK(slurm.calls("sbcast") == 1);
  }
  SECTION("a node that keeps nothing is left out") {
    lacks = 3;
    REQUIRE(executor.run(run, {}));
    CHECK(slurm.calls("sbcast") == 2);
    CHECK(slurm.ever_asked("--exclude=n1"));
  }
  SECTION("what cannot be sent loses the order") {
    slurm.says("sbcast", process::Exited{1}, "sbcast: error: No space left on device\n");
    REQUIRE(executor.run(run, {}));
    CHECK(slurm.ever_asked("--exclude=n1"));
    CHECK(std::ranges::any_of(slurm.log, [](const std::string& text) {
      return text.find("No space left on device") != std::string::npos;
    }));
  }
}
