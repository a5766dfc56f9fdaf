#include "torchwatch/traces/traces.hpp"

#include <catch2/catch.hpp>
#include <chrono>

#include "temporary_folder.hpp"
#include "torchwatch/platform/gzip.hpp"

using namespace torchwatch;
namespace fs = std::filesystem;

namespace {

const std::string kTrace = R"({"traceEvents":[{"ph":"X","name":"aten::addmm","ts":1,"dur":2}]})";

struct Folder {
  /// A trace of that size which was written `hours` ago.
  fs::path add(const std::string& token, std::size_t bytes, int hours) const {
    const auto file = temporary.write("traces/" + token + ".json.gz", std::string(bytes, 'x'));
    fs::last_write_time(file, now - std::chrono::hours(hours));
    return file;
  }

  test::TemporaryFolder temporary;
  fs::path path = temporary.path() / "traces";
  fs::file_time_type now = fs::file_time_type::clock::now();
};

}  // namespace

TEST_CASE("a trace is kept compressed, under its run's token, beside the database") {
  const Folder folder;
  const auto file =
      traces::file_of(traces::folder_beside(folder.temporary.path() / "torchwatch.sqlite"), "t1");
  CHECK(file == folder.path / "t1.json.gz");
  CHECK_FALSE(traces::size_of(file));
  REQUIRE(traces::keep(folder.temporary.write("scratch/trace.json", kTrace), file).value());
  CHECK(traces::read(file).value() == platform::gzip(kTrace));
  CHECK(traces::size_of(file) == static_cast<std::int64_t>(platform::gzip(kTrace).size()));
}

TEST_CASE("of what a run left, only a plain file is kept: a link could lead to our own secrets") {
  const Folder folder;
  const auto secret = folder.temporary.write("token", "tw_secret");
  const auto written = folder.temporary.path() / "trace.json";
  const auto file = traces::file_of(folder.path, "t1");
  CHECK_FALSE(traces::keep(written, file).value());
  fs::create_symlink(secret, written);
  CHECK_FALSE(traces::keep(written, file).value());
  fs::remove(written);
  fs::create_directory(written);
  CHECK_FALSE(traces::keep(written, file).value());
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("traces that are too old are removed, and nothing else in their folder") {
  const Folder folder;
  const auto old = folder.add("old", 10, 50);
  const auto young = folder.add("young", 10, 40);
  const auto other = folder.temporary.write("traces/notes.txt", "x");
  fs::last_write_time(other, folder.now - std::chrono::hours(100));
  CHECK(traces::remove_old(folder.path, folder.now - std::chrono::hours(45)).value() == 1);
  CHECK_FALSE(fs::exists(old));
  CHECK(fs::exists(young));
  CHECK(fs::exists(other));
}

TEST_CASE("where all traces are too large together, the oldest go first") {
  const Folder folder;
  const auto oldest = folder.add("oldest", 100, 3);
  const auto middle = folder.add("middle", 100, 2);
  const auto newest = folder.add("newest", 100, 1);
  CHECK(traces::remove_old(folder.path, fs::file_time_type::min(), 250).value() == 1);
  CHECK_FALSE(fs::exists(oldest));
  CHECK(traces::remove_old(folder.path, fs::file_time_type::min(), 100).value() == 1);
  CHECK_FALSE(fs::exists(middle));
  CHECK(fs::exists(newest));
}

TEST_CASE("a service that never made a trace has none to remove") {
  const Folder folder;
  CHECK(traces::remove_old(folder.path, folder.now).value() == 0);
}
