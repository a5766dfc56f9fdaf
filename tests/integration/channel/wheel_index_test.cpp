// The channel's side alone: what it asks of deploy/libtorch, and what it makes of its answers.
// release_test.py has the real program, pip and an index.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "elf_maker.hpp"
#include "fake_process_runner.hpp"
#include "file_content.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/channel/artifacts.hpp"
#include "torchwatch/channel/channel.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

process::ProcessRunner& processes() {
  static const auto runner =
      process::make_process_runner("integration-channel-" + std::to_string(getpid()));
  return *runner;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Stands for python3, and so for deploy/libtorch: a shell script that notes how it was called and
/// then does what the test wants ($into is the folder that the tree goes to).
class FakePython {
 public:
  explicit FakePython(const std::string& behaviour = "cp -r $here/tree $into") {
    test::write_tree(folder_.path() / "tree", "a release");
    folder_.write("libtorch", "");
    folder_.write("calls", "");
    behave(behaviour);
  }

  void behave(const std::string& behaviour) const {
    const std::string script = "#!/bin/sh\nhere=" + folder_.path().string() +
                               "\n"
                               "for into; do :; done\n"
                               "echo \"$*\" >> $here/calls\n"
                               "env | sort > $here/environment\n"
                               "mkdir -p $(dirname $into)\n" +
                               behaviour + "\n";
    fs::permissions(folder_.write("python3", script), fs::perms::owner_all);
  }

  WheelIndexSettings settings() const {
    return {.program = folder_.path() / "libtorch",
            .cache = cache(),
            .python = folder_.path() / "python3",
            .time_limit = std::chrono::seconds(60)};
  }
  std::unique_ptr<Channel> channel() const {
    return make_wheel_index_channel(settings(), processes());
  }
  Result<builds::Tree> fetch(const std::string& version = "1.2.3") const {
    return channel()->fetch({version}, {});
  }

  fs::path cache() const { return folder_.path() / "releases"; }
  const test::TemporaryFolder& folder() const { return folder_; }

  Names calls() const {
    Names lines;
    std::ifstream file(folder_.path() / "calls");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  std::string environment() const { return test::content_of(folder_.path() / "environment"); }
  /// What lies in the cache: releases, and what is left over of them.
  Names cached() const {
    Names names;
    for (const auto& entry : fs::recursive_directory_iterator(cache())) {
      if (fs::exists(entry.path() / "lib")) {
        names.push_back(entry.path().lexically_relative(cache()).string());
      }
    }
    return names;
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_CASE("a release is made in the cache, exactly the one asked for, with all its libraries") {
  const FakePython python;
  const auto tree = python.fetch();
  INFO((tree ? std::string() : tree.error().message));
  REQUIRE(tree.has_value());
  CHECK(tree->folder == python.cache() / "1.2.3/torch");
  CHECK(tree->version == "2.13.0+cpu");
  CHECK(python.calls() == Names{"-I " + (python.folder().path() / "libtorch").string() +
                                " --version 1.2.3 --exact --all-libraries --into " +
                                (python.cache() / "1.2.3/torch").string()});
}

TEST_CASE("a release for GPUs has all of CUDA, which releases share, and a folder of its own") {
  const FakePython python;
  REQUIRE(python.fetch());
  auto settings = python.settings();
  settings.for_cuda = true;
  const auto tree = make_wheel_index_channel(settings, processes())->fetch({"1.2.3"}, {});
  REQUIRE(tree.has_value());
  CHECK(tree->folder == python.cache() / "1.2.3-cuda/torch");
  CHECK(contains(python.calls().back(), " --version 1.2.3 --exact --cuda --shared-with " +
                                            python.cache().string() + " --into " +
                                            tree->folder.string()));
}

TEST_CASE("a release for Python is not the one that is there without, nor for GPUs") {
  const FakePython python;
  const auto without = python.fetch();
  REQUIRE(without);
  auto settings = python.settings();
  settings.with_python = true;
  const auto tree = make_wheel_index_channel(settings, processes())->fetch({"1.2.3"}, {});
  REQUIRE(tree.has_value());
  CHECK(tree->folder == python.cache() / "1.2.3-python/torch");
  CHECK(contains(python.calls().back(), " --exact --all-libraries --python --into "));
  settings.for_cuda = true;
  const auto both = make_wheel_index_channel(settings, processes())->fetch({"1.2.3"}, {});
  CHECK(both->folder == python.cache() / "1.2.3-cuda-python/torch");
  CHECK(contains(python.calls().back(), " --cuda --python --shared-with "));
  CHECK(python.fetch()->folder == without->folder);
  CHECK(python.calls().size() == 3);
}

TEST_CASE("a release that is there is not asked for again") {
  const FakePython python;
  const auto first = python.fetch();
  REQUIRE(first.has_value());
  const auto second = python.fetch();
  REQUIRE(second.has_value());
  CHECK(second->content_hash == first->content_hash);
  CHECK(python.calls().size() == 1);
}

TEST_CASE("the program learns where the user's index is, and no other setting of pip's") {
  setenv("PIP_INDEX_URL", "https://user:secret@index.example/simple", 1);
  setenv("PIP_REQUIRE_VIRTUALENV", "1", 1);
  const FakePython python;
  REQUIRE(python.fetch());
  unsetenv("PIP_INDEX_URL");
  unsetenv("PIP_REQUIRE_VIRTUALENV");
  const std::string environment = python.environment();
  INFO(environment);
  CHECK(contains(environment, "PIP_INDEX_URL=https://user:secret@index.example/simple\n"));
  CHECK(contains(environment, "PIP_CONFIG_FILE=/dev/null\n"));
  CHECK_FALSE(contains(environment, "PIP_REQUIRE_VIRTUALENV"));
  CHECK_FALSE(contains(python.calls().front(), "secret"));
}

TEST_CASE("versions are listed in the program's order, and nothing else that it says") {
  const FakePython python("echo 1.2.3; echo 'WARNING: slow index' >&2; echo 2.0.0");
  CHECK(names_of(python.channel()->list({}).value()) == Names{"1.2.3", "2.0.0"});
  CHECK(contains(python.calls().front(), " --list"));
}

TEST_CASE("an index is named to the program out of sight, and its files by their fingerprints") {
  const FakePython python("echo '1.2.3.dev20260816+cpu\tsha256=ab'; echo 'noise sha256=cd'");
  auto settings = python.settings();
  settings.index = "https://user:secret@index.example/nightly";
  settings.flavour = "cpu";
  settings.since = "2026-08-01";
  const auto channel = make_wheel_index_channel(settings, processes());
  const std::vector<Offer> offers{{"1.2.3.dev20260816+cpu", "sha256=ab"}};
  CHECK(channel->list({}) == offers);
  CHECK(contains(python.calls().front(), " --list --flavour cpu --since 2026-08-01"));
  CHECK_FALSE(contains(python.calls().front(), "secret"));
  CHECK(contains(python.environment(), "TORCHWATCH_INDEX=" + settings.index + "\n"));
  CHECK_FALSE(channel->at_first());
}

TEST_CASE("a file that was replaced lies beside the one that it replaced") {
  const FakePython python;
  const auto channel = python.channel();
  const auto first = channel->fetch({"1.2.3", "sha256=ab"}, {});
  const auto second = channel->fetch({"1.2.3", "sha256=cd"}, {});
  REQUIRE((first && second));
  CHECK(first->folder != second->folder);
  CHECK(python.calls().size() == 2);
  CHECK(contains(python.calls().front(), " --fingerprint sha256=ab "));
  CHECK(channel->fetch({"1.2.3", "sha256=ab"}, {})->folder == first->folder);
  CHECK(python.calls().size() == 2);
  CHECK(channel->at_first() == 2U);
}

TEST_CASE("a build that somebody else has made is brought by the program, out of sight") {
  const FakePython python(
      "cp -r $here/tree $into; echo elsewhere > $into/origin; touch $into.lock");
  const auto others =
      make_artifacts({.program = python.settings().program,
                      .folder = python.cache(),
                      .address = "https://user:secret@builds.example/{commit}/torch.zip",
                      .python = python.settings().python},
                     processes());
  const std::string commit(40, 'a');
  const auto tree = python.cache() / "one";
  fs::create_directories(tree);
  REQUIRE(others.bring(commit, tree, {}));
  CHECK(builds::inspect(tree)->origin == "elsewhere");
  CHECK_FALSE(fs::exists(tree / "torch.lock"));
  CHECK(contains(python.calls().front(), " --commit " + commit + " --all-libraries --into "));
  CHECK_FALSE(contains(python.calls().front(), "secret"));
  CHECK(contains(python.environment(), "TORCHWATCH_ARTIFACTS=https://user:secret@builds.example/"));
  python.behave("echo 'error: there is none' >&2; exit 3");
  fs::remove_all(tree);
  fs::create_directories(tree);
  CHECK(others.bring(commit, tree, {}).error().code == ErrorCode::not_found);
}

TEST_CASE("a build for GPUs that somebody else has made shares CUDA's libraries with the others") {
  const FakePython python("cp -r $here/tree $into");
  const auto others = make_artifacts({.program = python.settings().program,
                                      .folder = python.cache(),
                                      .address = "/builds/{commit}/torch.whl",
                                      .for_cuda = true,
                                      .python = python.settings().python},
                                     processes());
  fs::create_directories(python.cache() / "one");
  CHECK(others.for_cuda);
  REQUIRE(others.bring(std::string(40, 'a'), python.cache() / "one", {}));
  CHECK(contains(python.calls().front(),
                 " --cuda --shared-with " + python.cache().string() + " --into "));
}

TEST_CASE("a build for Python that somebody else has made is asked for as such") {
  const FakePython python("cp -r $here/tree $into");
  const auto others = make_artifacts({.program = python.settings().program,
                                      .folder = python.cache(),
                                      .address = "/builds/{commit}/torch.whl",
                                      .with_python = true,
                                      .python = python.settings().python},
                                     processes());
  fs::create_directories(python.cache() / "one");
  CHECK(others.with_python);
  REQUIRE(others.bring(std::string(40, 'a'), python.cache() / "one", {}));
  CHECK(contains(python.calls().front(), " --all-libraries --python --into "));
}

TEST_CASE("the program's exit status says what kind of error it is, and its last error why") {
  const auto [status, code] = GENERATE(table<int, ErrorCode>({{1, ErrorCode::unavailable},
                                                              {2, ErrorCode::unavailable},
                                                              {3, ErrorCode::not_found},
                                                              {4, ErrorCode::corrupt}}));
  const FakePython python("echo fetching; echo 'error: this is why' >&2; exit " +
                          std::to_string(status));
  const auto tree = python.fetch();
  REQUIRE_FALSE(tree.has_value());
  CHECK(tree.error().code == code);
  CHECK(tree.error().message == "cannot fetch PyTorch 1.2.3: this is why");
  const auto list = python.channel()->list({});
  REQUIRE_FALSE(list.has_value());
  CHECK(list.error().message == "cannot list the versions of PyTorch: this is why");
}

TEST_CASE("a program that says nothing is named with its exit status") {
  const FakePython python("exit 9");
  const auto tree = python.fetch();
  REQUIRE_FALSE(tree.has_value());
  CHECK(tree.error().code == ErrorCode::unavailable);
  CHECK(contains(tree.error().message, "libtorch: exit status 9"));
}

TEST_CASE("what is not a version never reaches the program") {
  const FakePython python;
  const std::string name =
      GENERATE(as<std::string>(), "", "..", "2..", "../x", "-r", "/etc", "2/3", "2.0 ", "v2.0",
               "2;ls", "-r /etc/passwd", "2.0 --index-url x", std::string(100, '1'));
  CHECK(python.fetch(name).error().code == ErrorCode::not_found);
  CHECK(python.calls().empty());
}

TEST_CASE("versions of all kinds that an index writes reach the program") {
  const FakePython python;
  const std::string name =
      GENERATE(as<std::string>(), "2.12.1", "2.13.0+cpu", "2.15.0.dev20260816", "1!2.0", "2");
  REQUIRE(python.fetch(name));
  REQUIRE(python.calls().size() == 1);
  CHECK(contains(python.calls().front(), " --version " + name + " "));
}

TEST_CASE("a build that was damaged in the cache is fetched again") {
  const FakePython python;
  REQUIRE(python.fetch());
  fs::remove(python.cache() / "1.2.3/torch/lib/libc10.so");
  REQUIRE(python.fetch());
  CHECK(fs::exists(python.cache() / "1.2.3/torch/lib/libc10.so"));
}

TEST_CASE(
    "a tree without PyTorch's libraries never becomes a build, and a good one after it does") {
  const FakePython python("cp -r $here/tree $into && rm $into/lib/libtorch_cpu.so");
  const auto tree = python.fetch();
  REQUIRE_FALSE(tree.has_value());
  CHECK(tree.error().code == ErrorCode::corrupt);
  CHECK(contains(tree.error().message, "libtorch_cpu.so"));
  CHECK(python.cached().empty());
  python.behave("cp -r $here/tree $into");
  CHECK(python.fetch());
}

TEST_CASE("a program that is killed leaves nothing half-made") {
  const FakePython python("cp -r $here/tree $into.partial; kill -KILL $$");
  const auto tree = python.fetch();
  REQUIRE_FALSE(tree.has_value());
  CHECK(tree.error().code == ErrorCode::unavailable);
  CHECK(python.cached().empty());
}

TEST_CASE("a program that is stopped, hangs or cannot start gives an error of that kind") {
  const FakePython python;
  const auto error_when = [&](process::ProcessEnd end) {
    test::FakeProcessRunner runner(
        [&](const process::ProcessSpec&, std::stop_token) { return test::ended(end); });
    return make_wheel_index_channel(python.settings(), runner)->fetch({"1.2.3"}, {}).error();
  };
  CHECK(error_when(process::Cancelled{}).code == ErrorCode::cancelled);
  CHECK(error_when(process::TimedOut{}).code == ErrorCode::timed_out);
  CHECK(contains(error_when(process::TimedOut{}).message, "not done within 60 s"));
  const auto missing = error_when(process::SpawnFailed{"python3: ENOENT"});
  CHECK(missing.code == ErrorCode::unavailable);
  CHECK(contains(missing.message, "python3 with pip"));
}

TEST_CASE("an address that no program can be given is refused with its length") {
  const FakePython python;
  auto settings = python.settings();
  settings.index = "https://h.example/" + std::string(140'000, 'd');
  const auto listed = make_wheel_index_channel(settings, processes())->list({});
  REQUIRE_FALSE(listed.has_value());
  CHECK(contains(listed.error().message, "TORCHWATCH_INDEX has 140018 bytes, more than 8192"));
  CHECK(python.calls().empty());
}

TEST_CASE("a long list is read, and a download leaves the configured part of the disk free") {
  const FakePython python("seq -f '2.%.0f\tpath=/a/long/path/to/a/file/of/torch' 1 40000");
  auto settings = python.settings();
  settings.disk_reserve_bytes = 12'345;
  const auto listed = make_wheel_index_channel(settings, processes())->list({});
  REQUIRE(listed.has_value());
  CHECK(listed->size() == 40'000);
  CHECK(contains(python.environment(), "TORCHWATCH_DISK_RESERVE=12345\n"));
}

TEST_CASE("a program that is not there is named, with the key to look at") {
  const FakePython python;
  fs::remove(python.folder().path() / "libtorch");
  const auto tree = python.fetch();
  REQUIRE_FALSE(tree.has_value());
  CHECK(tree.error().code == ErrorCode::unavailable);
  CHECK(contains(tree.error().message, "libtorch"));
  CHECK(contains(tree.error().message, "[build] kit_sources"));
  CHECK(python.calls().empty());
}

TEST_CASE("two processes do not fetch into one cache") {
  const FakePython python;
  const auto other = builds::FolderLock::acquire(python.cache());
  REQUIRE(other.has_value());
  CHECK(python.fetch().error().code == ErrorCode::unavailable);  // for now
}

TEST_CASE("a fetch that is killed once the release is there is not done again") {
  const FakePython python;
  const auto settings = python.settings();
  const auto outcome = processes().run(
      {.program = TORCHWATCH_FETCH_RELEASE,
       .arguments = {settings.python, settings.program, settings.cache, "1.2.3"},
       .environment = {{"PATH", "/usr/bin:/bin"},
                       {"TORCHWATCH_FAILPOINT", "channel.after_fetch_published:1:kill"}},
       .working_folder = python.folder().path(),
       .time_limit = std::chrono::seconds(60),
       .output_limit_bytes = 100'000,
       .label = {},
       .cpus = {},
       .on_started = {}},
      {});
  const auto* const end = std::get_if<process::Signalled>(&outcome.end);
  INFO(outcome.output);
  REQUIRE((end != nullptr && end->signal == SIGKILL));
  CHECK(python.fetch());
  CHECK(python.calls().size() == 1);
}

}  // namespace
}  // namespace torchwatch::channel
