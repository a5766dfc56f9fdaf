#include "recorded_noise.hpp"

#include <catch2/catch.hpp>

#include "temporary_folder.hpp"

using namespace torchwatch;
using namespace torchwatch::test;

namespace {

Result<Recording> read_text(const std::string& text) {
  const TemporaryFolder folder;
  return read_recording(folder.write("noise.csv", text));
}

std::string error_of(const std::string& text) {
  const auto recording = read_text(text);
  return recording ? "no error" : recording.error().message;
}

}  // namespace

TEST_CASE("columns are found by name, in any order, beside others") {
  const auto recording = read_text(
      "ns,comment,workload,iteration,process,night\n"
      "30,x,b,0,0,7\n"
      "20,,a,1,0,7\n"
      "10,,a,0,0,7\n"
      "40,,a,0,2,7\r\n"
      "\n"
      "50,,a,0,0,9\n"
      "6e1,,b,0,0,9\n");
  REQUIRE(recording);
  REQUIRE(recording->size() == 2);
  const auto& a = recording->front();
  CHECK(a.workload == "a");
  REQUIRE(a.comparisons.size() == 2);
  CHECK(a.comparisons[0] == RecordedComparison{{10, 20}, {40}});
  CHECK(a.comparisons[1] == RecordedComparison{{50}});
  CHECK(process_medians(a) == std::vector<double>{15, 40, 50});
  CHECK(recording->back().comparisons[1] == RecordedComparison{{60}});
}

TEST_CASE("without iterations the file's order is that of the samples") {
  const auto recording = read_text("night,process,workload,ns\n0,0,a,3\n0,0,a,1\n0,0,a,2\n");
  REQUIRE(recording);
  CHECK(recording->front().comparisons[0] == RecordedComparison{{3, 1, 2}});
}

TEST_CASE("a recording that cannot be used says what is wrong and where") {
  const std::string head = "night,process,workload,ns\n";
  CHECK_THAT(error_of(""), Catch::EndsWith("noise.csv: the file is empty"));
  CHECK_THAT(error_of(head), Catch::Contains("no line follows the first"));
  CHECK_THAT(error_of("night,process,workload\n0,0,a\n"), Catch::Contains("no column \"ns\""));
  CHECK_THAT(error_of(head + "0,0,a,5\n0,1,a\n"), Catch::Contains("line 3: 3 fields"));
  CHECK_THAT(error_of(head + "0,0,a,fast\n"), Catch::Contains("line 2: ns is \"fast\""));
  CHECK_THAT(error_of(head + "0,0,a,0\n"), Catch::Contains("ns is \"0\", not a number above 0"));
  CHECK_THAT(error_of(head + "0,0,a,nan\n"), Catch::Contains("ns is \"nan\""));
  CHECK_THAT(error_of(head + "0,0,a,12ms\n"), Catch::Contains("ns is \"12ms\""));
  CHECK_THAT(error_of(head + "x,0,a,5\n"), Catch::Contains("night is \"x\""));
  CHECK_THAT(error_of(head + "0,-1,a,5\n"), Catch::Contains("process is \"-1\""));
  CHECK_THAT(error_of(head + "0,0,,5\n"), Catch::Contains("workload is empty"));
  CHECK_THAT(error_of(head + "0,0,a,5\n0,0,b,5\n1,0,a,5\n"),
             Catch::Contains("workload b has no run in comparison 1"));
  CHECK_THAT(
      error_of("night,process,workload,ns,iteration\n0,0,a,5,2\n0,0,a,6,2\n"),
      Catch::Contains("line 3: a second sample for a, comparison 0, process 0, iteration 2"));
}

TEST_CASE("a recording that is not there is named with the reason") {
  const auto missing = read_recording("/nowhere/noise.csv");
  REQUIRE_FALSE(missing);
  CHECK_THAT(missing.error().message, Catch::StartsWith("/nowhere/noise.csv: cannot be read: No"));
  const TemporaryFolder folder;
  const auto a_folder = read_recording(folder.path());
  REQUIRE_FALSE(a_folder);
  CHECK_THAT(a_folder.error().message, Catch::Contains("it is a folder"));
}

TEST_CASE("one recording continues another of the same workloads only") {
  const auto first = read_text("night,process,workload,ns\n0,0,a,5\n1,0,a,6\n");
  const auto second = read_text("night,process,workload,ns\n0,0,a,7\n");
  const auto other = read_text("night,process,workload,ns\n0,0,b,7\n");
  REQUIRE((first && second && other));
  const auto joined = one_after_the_other(*first, *second);
  REQUIRE(joined);
  CHECK(process_medians(joined->front()) == std::vector<double>{5, 6, 7});
  CHECK_FALSE(one_after_the_other(*first, *other));
}

TEST_CASE("the whole recording has 12 workloads, 35 comparisons, 3 processes, 15 samples") {
  const auto recording = read_recording(full_recording());
  REQUIRE(recording);
  CHECK(recording->size() == 12);
  for (const auto& series : *recording) {
    CHECK(series.comparisons.size() == 35);
    for (const auto& comparison : series.comparisons) {
      REQUIRE(comparison.size() == 3);
      for (const auto& process : comparison) CHECK(process.size() == 15);
    }
  }
}
