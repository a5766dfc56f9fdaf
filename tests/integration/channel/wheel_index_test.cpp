#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "fake_index.hpp"
#include "fake_process_runner.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/channel/channel.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;
using test::FakeIndex;
using test::torch_members;
using test::with_record;
using test::zip_of;
using Names = std::vector<std::string>;

doors::ProcessRunner& processes() {
  static const auto runner =
      doors::make_process_runner("integration-channel-" + std::to_string(getpid()));
  return *runner;
}

std::unique_ptr<Channel> channel_of(const FakeIndex& index) {
  WheelIndexSettings settings;
  settings.cache = index.cache();
  settings.python = index.python();
  settings.time_limit = std::chrono::seconds(60);
  return make_wheel_index_channel(settings, processes());
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const Names kWholeRelease{
    "1.2.3/libcudart.so.13.dist-info/RECORD",
    "1.2.3/libcupti.so.13.dist-info/RECORD",
    "1.2.3/nvidia/cu13/lib/libcudart.so.13",
    "1.2.3/nvidia/cu13/lib/libcupti.so.13",
    "1.2.3/torch-1.2.3.dist-info/RECORD",
    "1.2.3/torch/build-hash",
    "1.2.3/torch/build-version",
    "1.2.3/torch/include/torch/torch.h",
    "1.2.3/torch/lib/libc10.so",
    "1.2.3/torch/lib/libcudart.so.13",
    "1.2.3/torch/lib/libcupti.so.13",
    "1.2.3/torch/lib/libtorch.so",
    "1.2.3/torch/lib/libtorch_cpu.so",
    "1.2.3/torch/version.py",
};

TEST_CASE("a release becomes a tree with the small CUDA libraries it needs, and nothing more") {
  const FakeIndex index;
  const auto tree = channel_of(index)->fetch("1.2.3", {});
  INFO((tree ? std::string() : tree.error().message));
  REQUIRE(tree.has_value());
  CHECK(tree->folder == index.cache() / "1.2.3/torch");
  CHECK(tree->version == "1.2.3+cu130");
  CHECK(tree->embedded_commit == std::string(40, 'a'));
  CHECK(tree->has_cuda);
  CHECK(index.requests() ==
        Names{"torch===1.2.3", "nvidia-cuda-cupti==13.*", "nvidia-cuda-runtime==13.*"});
  CHECK(index.cached() == kWholeRelease);
}

TEST_CASE("a release that is there is not asked for again") {
  const FakeIndex index;
  const auto first = channel_of(index)->fetch("1.2.3", {});
  REQUIRE(first.has_value());
  const auto requests = index.requests().size();
  const auto second = channel_of(index)->fetch("1.2.3", {});
  REQUIRE(second.has_value());
  CHECK(second->content_hash == first->content_hash);
  CHECK(index.requests().size() == requests);
}

TEST_CASE("pip is called isolated, with what the user said of the index in a file of its own") {
  setenv("PIP_INDEX_URL", "https://user:secret@index.example/simple", 1);
  setenv("PIP_REQUIRE_VIRTUALENV", "1", 1);
  const FakeIndex index;
  REQUIRE(channel_of(index)->fetch("1.2.3", {}));
  const std::string call = index.last_call();
  INFO(call);
  CHECK(
      call.starts_with("-I -m pip --isolated --no-input --disable-pip-version-check download "
                       "--no-deps --only-binary=:all: --no-cache-dir --progress-bar off -d "));
  CHECK(contains(call, "\nindex-url = https://user:secret@index.example/simple\n"));
  CHECK(contains(call, "HOME=" + index.cache().string()));
  CHECK_FALSE(contains(call, "PIP_INDEX_URL"));
  CHECK_FALSE(contains(call, "PIP_REQUIRE_VIRTUALENV"));
  CHECK_FALSE(contains(call.substr(0, call.find('\n')), "secret"));
  unsetenv("PIP_INDEX_URL");
}

TEST_CASE("versions are listed oldest first") {
  const FakeIndex index;
  CHECK(channel_of(index)->list({}) == Names{"1.2.3", "2.0.0"});
  CHECK(index.cached().empty());
}

TEST_CASE("a release that the index does not have is not found") {
  const FakeIndex index;
  const auto tree = channel_of(index)->fetch("9.9.9", {});
  REQUIRE_FALSE(tree.has_value());
  CHECK(tree.error().code == ErrorCode::not_found);
  CHECK(contains(tree.error().message, "No matching distribution found for torch===9.9.9"));
}

TEST_CASE("what is no version never reaches pip") {
  const FakeIndex index;
  for (const char* name : {"", "../x", "-r /etc/passwd", "2.0 --index-url x"}) {
    CHECK(channel_of(index)->fetch(name, {}).error().code == ErrorCode::not_found);
  }
  CHECK(index.requests().empty());
}

TEST_CASE("a damaged or dishonest wheel never becomes a build; a good one after it does") {
  const FakeIndex index;
  auto members = torch_members();
  SECTION("a file was changed after the record was made") {
    members = with_record(members);
    members[5].content = "import os";  // one that is not even kept
    index.serve("torch", zip_of(members));
  }
  SECTION("cut off") {
    const std::string whole = zip_of(with_record(members));
    index.serve("torch", whole.substr(0, whole.size() / 2));
  }
  SECTION("a name that leaves the folder") {
    members.push_back({.name = "../../evil", .content = "1"});
    index.serve("torch", zip_of(with_record(members)));
  }
  SECTION("another version") {
    index.serve("torch", zip_of(with_record(torch_members("1.2.4"))));
  }
  SECTION("the package of a library does not hold it") {
    index.serve("nvidia-cuda-runtime",
                zip_of(with_record({{.name = "nvidia/cu13/lib/libother.so", .content = "1"}})));
  }
  const auto tree = channel_of(index)->fetch("1.2.3", {});
  REQUIRE_FALSE(tree.has_value());
  INFO(tree.error().message);
  CHECK(tree.error().code == ErrorCode::corrupt);
  CHECK(contains(tree.error().message, "wheel index: torch 1.2.3: "));
  CHECK(index.cached().empty());
  CHECK_FALSE(fs::exists(index.folder().path() / "evil"));
  index.serve("torch", zip_of(with_record(torch_members(), "torch-1.2.3")));
  index.serve("nvidia-cuda-runtime",
              zip_of(with_record({{.name = "nvidia/cu13/lib/libcudart.so.13",
                                   .content = torch_members()[0].content}})));
  CHECK(channel_of(index)->fetch("1.2.3", {}).has_value());
}

TEST_CASE("a build that was damaged in the cache is fetched again") {
  const FakeIndex index;
  REQUIRE(channel_of(index)->fetch("1.2.3", {}));
  fs::remove(index.cache() / "1.2.3/torch/lib/libc10.so");
  REQUIRE(channel_of(index)->fetch("1.2.3", {}));
  CHECK(index.cached() == kWholeRelease);
}

TEST_CASE("an index that cannot be reached is a fault of the surroundings") {
  const FakeIndex index;
  index.folder().write("broken", "");
  const auto tree = channel_of(index)->fetch("1.2.3", {});
  REQUIRE_FALSE(tree.has_value());
  CHECK(tree.error().code == ErrorCode::unavailable);
  CHECK(contains(tree.error().message, "Could not connect"));
}

TEST_CASE("pip that is stopped, hangs or is not there gives an error of that kind") {
  const FakeIndex index;
  WheelIndexSettings settings;
  settings.cache = index.cache();
  const auto error_when = [&](doors::ProcessEnd end) {
    test::FakeProcessRunner runner(
        [&](const doors::ProcessSpec&, std::stop_token) { return test::ended(end); });
    return make_wheel_index_channel(settings, runner)->fetch("1.2.3", {}).error();
  };
  CHECK(error_when(doors::Cancelled{}).code == ErrorCode::cancelled);
  CHECK(error_when(doors::TimedOut{}).code == ErrorCode::timed_out);
  const auto missing = error_when(doors::SpawnFailed{"python3: ENOENT"});
  CHECK(missing.code == ErrorCode::unavailable);
  CHECK(contains(missing.message, "python3 with pip"));
}

TEST_CASE("two processes do not fetch into one cache") {
  const FakeIndex index;
  const auto other = builds::FolderLock::acquire(index.cache());
  REQUIRE(other.has_value());
  CHECK(channel_of(index)->fetch("1.2.3", {}).error().code == ErrorCode::conflict);
}

TEST_CASE("a fetch that is killed anywhere is done by the next call, with nothing left over") {
  // Files are published for pip's settings, build-version and build-hash, folders for the release.
  const std::string failpoint =
      GENERATE("publish.before_file_rename:1:kill", "publish.before_file_rename:2:kill",
               "publish.before_folder_rename:1:kill", "channel.after_fetch_published:1:kill");
  const FakeIndex index;
  const auto outcome = processes().run(
      {.program = TORCHWATCH_FETCH_RELEASE,
       .arguments = {index.python(), index.cache(), "1.2.3"},
       .environment = {{"PATH", "/usr/bin:/bin"}, {"TORCHWATCH_FAILPOINT", failpoint}},
       .working_folder = index.folder().path(),
       .time_limit = std::chrono::seconds(60),
       .output_limit_bytes = 100'000,
       .tag = {},
       .cpus = {},
       .on_started = {}},
      {});
  const auto* const end = std::get_if<doors::Signalled>(&outcome.end);
  INFO(outcome.output);
  REQUIRE(end != nullptr);
  CHECK(end->signal == SIGKILL);
  const auto tree = channel_of(index)->fetch("1.2.3", {});
  INFO((tree ? std::string() : tree.error().message));
  REQUIRE(tree.has_value());
  CHECK(tree->version == "1.2.3+cu130");
  CHECK(index.cached() == kWholeRelease);
}

}  // namespace
}  // namespace torchwatch::channel
