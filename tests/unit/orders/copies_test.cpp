#include <algorithm>
#include <catch2/catch.hpp>

#include "copied_machine.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/orders/node_copies.hpp"

using namespace torchwatch;
using orders::NodeCopies;
using Machine = test::CopiedMachine;
using test::write_file;
namespace fs = std::filesystem;

namespace {

/// Does what sbcast does.
void send(const std::vector<orders::CopiedFolder>& folders, const std::string& sha256,
          const NodeCopies& copies) {
  for (const auto& folder : folders) {
    for (const auto& file : folder.files) {
      if (file.sha256 != sha256) continue;
      const auto to = copies.contents() / (sha256 + orders::kArriving);
      fs::copy_file(folder.root / file.path, to, fs::copy_options::overwrite_existing);
    }
  }
}

}  // namespace

TEST_CASE("what runs load is named once: libraries, those of CUDA beside them, runners") {
  const Machine machine;
  const auto folders = orders::folders_of(machine.block()).value();
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
  const auto folders = orders::folders_of(block).value();
  const auto copies = NodeCopies::open(machine.scratch()).value();
  const auto missing = copies.missing(folders).value();
  CHECK(missing.size() == 5);  // both builds have the same gomp, under two names
  for (const auto& hash : missing) send(folders, hash, copies);
  REQUIRE(copies.missing(folders).value().empty());
  REQUIRE(copies.place(folders, block));
  fs::remove_all(machine.path() / "a");
  fs::remove_all(machine.path() / "b");
  fs::remove_all(machine.path() / "kits");
  CHECK(test::content_of(block.runs[0].libraries / "libtorch.so") == "torch of a");
  CHECK(test::content_of(block.runs[1].libraries / "libtorch.so") == "torch of b");
  CHECK(test::content_of(block.runs[0].libraries / "libgomp.so") == "gomp");
  CHECK(test::content_of(block.runs[0].libraries / "../../nvidia/cublas/lib/libcublas.so.13") ==
        "cublas");
  CHECK(test::content_of(block.runs[1].runner) == "runner");
  CHECK(fs::equivalent(block.runs[0].libraries / "libgomp.so.1",
                       block.runs[1].libraries / "libgomp.so.1"));
  SECTION("another order finds it there") {
    CHECK(copies.missing(folders).value().empty());
  }
}

TEST_CASE("content that is not what its name says is asked for again, and never used") {
  const Machine machine;
  auto block = machine.block();
  const auto folders = orders::folders_of(block).value();
  const auto copies = NodeCopies::open(machine.scratch()).value();
  const auto wanted = copies.missing(folders).value();
  for (const auto& hash : wanted) send(folders, hash, copies);
  const auto cut = copies.contents() / (wanted.front() + orders::kArriving);
  write_file(cut, "cu");
  CHECK(copies.missing(folders).value() == std::vector{wanted.front()});
  CHECK_FALSE(fs::exists(cut));
}

TEST_CASE("copies beyond the limit go, those that were used least recently first") {
  const Machine machine;
  const auto copies = NodeCopies::open(machine.scratch()).value();
  const auto both = machine.block();
  std::vector<std::vector<orders::CopiedFolder>> builds;
  for (const auto& run : both.runs) {
    executor::RunBlock block{.runs = {run}};
    builds.push_back(orders::folders_of(block).value());
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
  auto order = test::sample_order({"a", "b"});
  order.copies = orders::folders_of(machine.block()).value();
  const auto read = orders::parse_order(orders::to_json(order)).value();
  REQUIRE(read.copies.size() == 3);
  CHECK(read.copies[0].root == order.copies[0].root);
  CHECK(read.copies[0].key() == order.copies[0].key());

  const auto known = order.copies[0].files[0].sha256;
  const auto unknown = digest::sha256_hex("of nobody");
  const auto line = orders::lack_line(order, {.folder = "/scratch", .hashes = {unknown, known}});
  CHECK(orders::ends_answer(order, line.substr(0, line.size() - 1)));
  const auto answer = orders::parse_answer(order, line, std::chrono::seconds(1));
  CHECK_FALSE(answer.is_whole());
  CHECK(answer.lack.folder == "/scratch");
  CHECK(answer.lack.hashes == std::vector{known});

  for (const char* const path : {"../x", "/etc/passwd", "a/../../x", ""}) {
    INFO(path);
    order.copies[0].files[0].path = path;
    CHECK(orders::parse_order(orders::to_json(order)).error().code == ErrorCode::invalid);
  }
}
