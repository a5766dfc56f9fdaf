#include <algorithm>
#include <catch2/catch.hpp>

#include "temporary_folder.hpp"
#include "torchwatch/config/classes.hpp"
#include "torchwatch/config/effective.hpp"

using namespace torchwatch;
using namespace torchwatch::config;
using namespace std::chrono_literals;
using Catch::Contains;
using torchwatch::test::TemporaryFolder;

namespace {

const Configuration kCpuTrain{Device::cpu, Mode::train};
const Configuration kCpuInfer{Device::cpu, Mode::infer};
const Configuration kCudaTrain{Device::cuda, Mode::train};
const std::string kSlurm = "[executor]\nkind = \"slurm\"\n[slurm]\npartition = \"measure\"\n";

std::string table(const std::string& name, const std::string& configurations,
                  const std::string& more = "") {
  return "[[slurm.class]]\nname = \"" + name + "\"\nconfigurations = " + configurations + "\n" +
         more;
}

Result<Config> of(const std::string& text) {
  const TemporaryFolder folder;
  return load(folder.write("torchwatch.toml", text), true);
}

std::string error_of(const std::string& text) {
  const auto result = of(text);
  REQUIRE_FALSE(result.has_value());
  return result.error().text();
}

}  // namespace

TEST_CASE("a class is as [slurm] where it does not say otherwise") {
  const auto config =
      of(kSlurm + "account = \"perf\"\noptions = [\"--qos=low\"]\ntime = \"2h\"\nlanes = 3\n" +
         table("epyc", R"(["cpu-train", "cpu-infer"])", "constraint = \"epyc9554\"\n") +
         table("h100", R"(["cuda-train"])",
               "partition = \"gpu\"\ngres = \"gpu:1\"\naccount = \"\"\nexclusive = false\n"
               "options = []\nlanes = 4\ntime = \"30m\"\n"));
  if (!config) FAIL(config.error().text());
  const auto classes = slurm_classes(*config);
  REQUIRE(classes.size() == 2);
  CHECK(classes[0].name == "epyc");
  CHECK(classes[0].configurations == std::vector{kCpuTrain, kCpuInfer});
  CHECK(classes[0].partition == "measure");
  CHECK(classes[0].constraint == "epyc9554");
  CHECK(classes[0].account == "perf");
  CHECK(classes[0].exclusive);
  CHECK(classes[0].options == std::vector<std::string>{"--qos=low"});
  CHECK(classes[0].lanes == 3);
  CHECK(classes[0].time == 2h);
  CHECK(classes[1].partition == "gpu");
  CHECK(classes[1].constraint.empty());
  CHECK(classes[1].gres == "gpu:1");
  CHECK(classes[1].account.empty());
  CHECK_FALSE(classes[1].exclusive);
  CHECK(classes[1].options.empty());
  CHECK(classes[1].lanes == 4);
  CHECK(classes[1].time == 30min);
  CHECK(class_of(*config, kCpuInfer).value() == "epyc");
  CHECK(class_of(*config, kCudaTrain).value() == "h100");
}

TEST_CASE("without classes [slurm] is the one class, which measures every configuration") {
  const auto config = of(kSlurm + "constraint = \"epyc\"\nlanes = 2\ntime = \"1h\"\n").value();
  const auto classes = slurm_classes(config);
  REQUIRE(classes.size() == 1);
  CHECK(classes[0].name.empty());
  CHECK(classes[0].configurations.empty());
  CHECK(classes[0].partition == "measure");
  CHECK(classes[0].constraint == "epyc");
  CHECK(classes[0].exclusive);
  CHECK(classes[0].lanes == 2);
  CHECK(classes[0].time == 1h);
  CHECK(class_of(config, kCudaTrain).value().empty());
}

TEST_CASE("what the classes measure is what the machines have, unless [suite] names less") {
  const auto classes =
      table("b", R"(["cuda-train", "cpu-infer"])") + table("a", R"(["cpu-train"])");
  CHECK(of(kSlurm + classes)->suite.configurations ==
        std::vector{kCpuTrain, kCpuInfer, kCudaTrain});
  CHECK(of("[suite]\nconfigurations = []\n" + kSlurm + classes)->suite.configurations.size() == 3);
  const auto less = of("[suite]\nconfigurations = [\"cpu-infer\"]\n" + kSlurm + classes);
  REQUIRE(less);
  CHECK(less->suite.configurations == std::vector{kCpuInfer});
  CHECK(class_of(*less, kCudaTrain).value() == "b");
}

TEST_CASE("a configuration that is in two classes, or in none, is named with them") {
  const auto twice = error_of(kSlurm + table("a", R"(["cpu-train"])") +
                              table("b", R"(["cpu-infer", "cpu-train"])"));
  CHECK_THAT(twice, Contains("torchwatch.toml:8: [[slurm.class]] configurations: cpu-train is in "
                             "the classes \"a\" and \"b\"; leave it in the one"));
  const auto none = error_of("[suite]\nconfigurations = [\"cpu-train\", \"cuda-train\"]\n" +
                             kSlurm + table("a", R"(["cpu-train"])"));
  CHECK_THAT(none, Contains("torchwatch.toml:2: [suite] configurations: cuda-train is in no "
                            "[[slurm.class]], so no node measures it; add it to"));
  // What people ask for is not in the file.
  const auto asked = class_of(of(kSlurm + table("a", R"(["cpu-train"])")).value(), kCudaTrain);
  REQUIRE_FALSE(asked);
  CHECK(asked.error().code == ErrorCode::invalid);
  CHECK_THAT(asked.error().text(), Contains("cuda-train is in no [[slurm.class]]"));
}

TEST_CASE("runs on this machine are of no configured class") {
  auto config = of(kSlurm + table("a", R"(["cpu-train"])")).value();
  config.executor.kind = ExecutorKind::local;
  CHECK(class_of(config, kCudaTrain).value().empty());
}

TEST_CASE("what is wrong with a class is said with its place, and what to do") {
  const std::string one = R"(["cpu-train"])";
  CHECK_THAT(error_of(kSlurm + table("a", one) + table("a", R"(["cpu-infer"])")),
             Contains("torchwatch.toml:8: [[slurm.class]] name: there is another class \"a\"; give "
                      "each a name of its own"));
  CHECK_THAT(
      error_of(kSlurm + table("a", one, "partitoin = \"x\"\n")),
      Contains("[[slurm.class]] number 1 (line 5): partitoin: unknown key; did you mean "
               "partition? keys: name, configurations, partition, constraint, gres, account, "
               "exclusive, options, lanes, time"));
  CHECK_THAT(error_of(kSlurm + table("a", R"(["gpu-train"])")),
             Contains("number 1 (line 5): configurations: ") && Contains("gpu-train"));
  CHECK_THAT(error_of(kSlurm + table("a", "[]")),
             Contains("configurations: ") && Contains("one or more of cpu-train"));
  CHECK_THAT(error_of(kSlurm + table("a", R"(["cpu-train", "cpu-train"])")), Contains("each once"));
  CHECK_THAT(error_of(kSlurm + "[[slurm.class]]\nname = \"a\"\n"),
             Contains("configurations is missing"));
  CHECK_THAT(error_of(kSlurm + "[[slurm.class]]\nconfigurations = " + one + "\n"),
             Contains("name is missing"));
  for (const auto* const name : {"", "a b", "a.0", "a/b", "\\u00e4"}) {
    CAPTURE(name);
    CHECK_THAT(error_of(kSlurm + table(name, one)),
               Contains("name: ") && Contains("letters, digits, - and _"));
  }
  for (const auto* const option :
       {"--job-name=x", "--time=1", "--exclusive", "-p x", "--qos=a b"}) {
    CAPTURE(option);
    CHECK_THAT(error_of(kSlurm + table("a", one, "options = [\"" + std::string(option) + "\"]\n")),
               Contains("options: ") && Contains("that the service sets itself"));
  }
  CHECK_THAT(error_of(kSlurm + table("a", one, "lanes = 0\n")),
             Contains("lanes: ") && Contains("1 to 64"));
  CHECK_THAT(error_of(kSlurm + table("a", one, "time = \"1s\"\n")), Contains("time: "));
  CHECK_THAT(error_of(kSlurm + table("a", one, "idle = \"10m\"\n")), Contains("idle: unknown key"));
  CHECK_THAT(error_of(kSlurm + "class = \"h100\"\n"), Contains("must be a list: [[slurm.class]]"));
}

TEST_CASE("what is shown of classes is what is used, and reads back as it is") {
  const TemporaryFolder folder;
  const auto file = folder.write(
      "torchwatch.toml", kSlurm + "exclusive = false\n" +
                             table("a", R"(["cpu-train"])", "partition = \"\"\nlanes = 2\n"));
  const auto values = effective_values(file, true).value();
  const auto shown = std::ranges::find_if(values, [](const EffectiveValue& value) {
    return value.key.table == "slurm" && value.key.name == "class";
  });
  REQUIRE(shown != values.end());
  CHECK(shown->line == 6);
  CHECK_THAT(shown->value, Contains("name = \"a\", configurations = [\"cpu-train\"]"));
  CHECK_THAT(shown->value, Contains("exclusive = false") && Contains("lanes = 2"));
  // Another [slurm], from which nothing is taken any more.
  const auto again = of("[slurm]\npartition = \"other\"\nclass = " + shown->value + "\n").value();
  REQUIRE(again.slurm.classes.size() == 1);
  CHECK(again.slurm.classes[0].partition.empty());
  CHECK_FALSE(again.slurm.classes[0].exclusive);
  CHECK(again.slurm.classes[0].lanes == 2);
}
