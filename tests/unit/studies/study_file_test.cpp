#include "torchwatch/studies/study_file.hpp"

#include <catch2/catch.hpp>

using namespace torchwatch;
using Catch::Contains;
using studies::parse_study_file;

namespace {

const std::string kPair = R"(
[[pair]]
name = "two threads"
between = "threads=1"
and = "threads=2"
)";

std::string refusal(const std::string& text) {
  const auto study = parse_study_file(text, "s.toml");
  REQUIRE_FALSE(study);
  CHECK(study.error().code == ErrorCode::invalid);
  CHECK_THAT(study.error().message, Catch::StartsWith("s.toml:"));
  return study.error().text();
}

/// A study with one more line in its pair.
std::string pair_with(const std::string& line) {
  return "title = \"T\"" + kPair + line;
}

}  // namespace

TEST_CASE("a study names pairs of settings, and on what they are compared") {
  const auto study = parse_study_file(R"(
title = "Threads"
about = "One thread against two."
workloads = ["resnet18", "dlrm"]
metrics = ["time"]
[[pair]]
name = "two threads"
between = "threads=1"
and = "bf16,threads=2"
[[pair]]
name = "arenas"
between = "default"
and = 'OMP_DYNAMIC=true'
workloads = ["tts_angular"]
configurations = ["cpu-train"]
preset = "small"
)",
                                      "s.toml")
                         .value();
  CHECK(study.title == "Threads");
  CHECK(study.about == "One thread against two.");
  REQUIRE(study.pairs.size() == 2);
  const auto& [first, second] = std::tie(study.pairs[0], study.pairs[1]);
  CHECK(first.settings == storage::StudyRow{.name = "two threads",
                                            .baseline = "threads=1",
                                            .candidate = "precision=bf16,threads=2"});
  CHECK(first.selection.workloads == std::vector<std::string>{"resnet18", "dlrm"});
  CHECK(first.selection.metrics == std::vector{Metric::time});
  CHECK(first.selection.configurations.empty());
  CHECK(second.selection.workloads == std::vector<std::string>{"tts_angular"});
  CHECK(second.selection.metrics == std::vector{Metric::time});
  CHECK(second.selection.configurations.size() == 1);
  CHECK(second.selection.preset == Preset::small);
}

TEST_CASE("what is wrong in a study is named with its file, its line and what is allowed") {
  CHECK_THAT(refusal("title = "), Contains("s.toml:1"));
  CHECK_THAT(refusal(kPair), Contains("has no title"));
  CHECK_THAT(refusal("title = \"T\""), Contains("has no [[pair]]"));
  CHECK_THAT(refusal("title = \"T\"\npair = 3"), Contains("has no [[pair]]"));
  CHECK_THAT(refusal("title = 3" + kPair), Contains("s.toml:1: invalid title"));
  CHECK_THAT(refusal("tilte = \"T\"" + kPair),
             Contains("unknown key \"tilte\"") && Contains("did you mean title?"));
  CHECK_THAT(refusal(pair_with("bewteen = 1")),
             Contains("s.toml:6: unknown key \"bewteen\"") && Contains("name, between, and"));
  CHECK_THAT(refusal("title = \"T\"\n[[pair]]\nname = \"n\"\nbetween = \"threads=1\""),
             Contains("s.toml:2: a [[pair]] has no and"));
  CHECK_THAT(
      refusal("title = \"T\"\n[[pair]]\nname = \"n\"\nbetween = \"speed=1\"\nand = \"bf16\""),
      Contains("s.toml:4: between: unknown setting \"speed=1\""));
  CHECK_THAT(refusal("title = \"T\"\n[[pair]]\nname = \"n\"\nbetween = \"bf16\"\nand = \"bf16\""),
             Contains("both settings are precision=bf16"));
  CHECK_THAT(refusal("title = \"T\"\n[[pair]]\nname = \"n\"\nbetween = 1\nand = \"bf16\""),
             Contains("s.toml:4: invalid between"));
  CHECK_THAT(refusal("title = \"T\"" + kPair + kPair), Contains("two pairs have the name"));
  CHECK_THAT(refusal(pair_with("workloads = \"dlrm\"")),
             Contains("s.toml:6: invalid workloads: must be a list"));
  CHECK_THAT(refusal(pair_with("workloads = []")), Contains("invalid workloads"));
  CHECK_THAT(refusal(pair_with("workloads = [3]")), Contains("workloads must be texts"));
  CHECK_THAT(refusal(pair_with("configurations = [\"cpu-sleep\"]")),
             Contains("configurations: ") && Contains("cpu-train"));
  CHECK_THAT(refusal(pair_with("metrics = [\"speed\"]")), Contains("metrics: "));
  CHECK_THAT(refusal(pair_with("preset = \"huge\"")), Contains("s.toml:6: preset: "));
}

TEST_CASE("a study's file that is not there is named") {
  const auto missing = studies::read_study_file("/nowhere/study.toml");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK_THAT(missing.error().text(), Contains("/nowhere/study.toml"));
}
