#include "torchwatch/traces/self_times.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/platform/gzip.hpp"
#include "torchwatch/traces/traces.hpp"

using namespace torchwatch;
using namespace torchwatch::traces;

namespace {

/// An iteration of 100 us: one operator that calls two others, and one on another thread.
const std::string kTrace = R"({"traceEvents": [
  {"ph": "M", "name": "process_name", "pid": 0},
  {"ph": "X", "name": "resnet18", "pid": 0, "tid": 0, "ts": 0, "dur": 100},
  {"ph": "X", "cat": "operator", "name": "aten::linear", "pid": 0, "tid": 1, "ts": 10, "dur": 50},
  {"ph": "X", "cat": "operator", "name": "aten::addmm", "pid": 0, "tid": 1, "ts": 12, "dur": 30},
  {"ph": "X", "cat": "operator", "name": "aten::copy_", "pid": 0, "tid": 1, "ts": 14, "dur": 5},
  {"ph": "X", "cat": "operator", "name": "aten::copy_", "pid": 0, "tid": 1, "ts": 50, "dur": 7},
  {"ph": "X", "cat": "operator", "name": "aten::relu", "pid": 0, "tid": 2, "ts": 20, "dur": 9}]})";

}  // namespace

TEST_CASE("what an operator calls is not its own time, and other threads are beside it") {
  const auto times = self_times_in(kTrace).value();
  REQUIRE(times.size() == 4);
  CHECK(times.at("aten::linear").self_us == Approx(50 - 30 - 7));
  CHECK(times.at("aten::addmm").self_us == Approx(30 - 5));
  CHECK(times.at("aten::copy_").self_us == Approx(12));
  CHECK(times.at("aten::copy_").calls == 2);
  CHECK(times.at("aten::relu").self_us == Approx(9));
}

TEST_CASE("the largest difference is first, whichever way it goes, and what is new counts") {
  const SelfTimes before{{"a", {1, 10}}, {"b", {2, 30}}, {"gone", {1, 8}}};
  const SelfTimes after{{"a", {1, 11}}, {"b", {2, 5}}, {"new", {3, 9}}};
  const auto changes = changes_between(before, after);
  REQUIRE(changes.size() == 4);
  CHECK(changes[0].name == "b");
  CHECK(changes[0].difference_us() == Approx(-25));
  CHECK(changes[1].name == "new");
  CHECK(changes[1].before.calls == 0);
  CHECK(changes[2].name == "gone");
  CHECK(changes[3].name == "a");
}

TEST_CASE("anything but a trace is refused, and events without what they need are left out") {
  for (const auto* text : {"", "[]", "{", R"({"traceEvents": 3})"}) {
    CHECK(self_times_in(text).error().code == ErrorCode::corrupt);
  }
  CHECK(self_times_in(R"({"traceEvents": [{"ph": "X", "cat": "k", "name": "a", "ts": 1}, 7,
    {"ph": "X", "cat": "k", "name": 3, "ts": 1, "dur": 2},
    {"ph": "X", "cat": "k", "name": "a", "ts": 1, "dur": -2}]})")
            .value()
            .empty());
  CHECK(self_times_in(R"({"traceEvents": [{"ph": 7, "cat": "k"}]})").error().code ==
        ErrorCode::corrupt);
}

TEST_CASE("a kept trace is added up once") {
  test::TemporaryFolder folder;
  const auto file = file_of(folder.path(), "token");
  SelfTimeReader reader;
  CHECK(reader.of(file).error().code == ErrorCode::not_found);
  REQUIRE(keep(folder.write("trace.json", kTrace), file).value());
  const auto times = reader.of(file).value();
  CHECK(times->size() == 4);
  std::filesystem::remove(file);
  CHECK(reader.of(file).value() == times);
  folder.write("other.json.gz", "no gzip");
  CHECK(reader.of(folder.path() / "other.json.gz").error().code == ErrorCode::corrupt);
}

TEST_CASE("what was compressed is decompressed, up to a limit") {
  const std::string text(3'000'000, 'x');
  CHECK(platform::gunzip(platform::gzip(text), text.size()).value() == text);
  CHECK(platform::gunzip(platform::gzip(text), text.size() - 1).error().code == ErrorCode::invalid);
  auto cut = platform::gzip(text);
  cut.resize(cut.size() / 2);
  CHECK(platform::gunzip(cut, text.size()).error().code == ErrorCode::corrupt);
}
