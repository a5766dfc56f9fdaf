// `torchwatch study` and `torchwatch compare --between --and`, on a stored study.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "printed.hpp"
#include "studied_day.hpp"

using namespace torchwatch;
using Catch::Contains;
using nlohmann::json;

namespace {

constexpr const char* kStudy = R"(title = "Slower"
about = "Is it a third?"
workloads = ["dlrm"]
configurations = ["cpu-infer"]
metrics = ["time"]
[[pair]]
name = "a third slower"
between = "default"
and = "TORCH_SCRIPTED_FACTOR=1.3"
[[pair]]
name = "never measured"
between = "threads=1"
and = "threads=2"
)";

/// A study of one pair that was carried out; the service has ended.
struct StoredStudy : test::StudiedDay {
  StoredStudy() {
    id = std::to_string(carry_out(test::kThirdSlower, test::times_of("dlrm")).id);
    service.reset();
    study = folder.write("study.toml", kStudy).string();
  }
  test::Printed run(std::vector<std::string> arguments) const {
    return test::run_command(std::move(arguments), file);
  }

  std::string id;
  std::string study;
};

}  // namespace

TEST_CASE_METHOD(StoredStudy, "a study is shown with both settings, for people and programs") {
  const auto shown = run({"comparison", "show", id});
  INFO(shown.out << shown.err);
  CHECK_THAT(shown.out, Contains("study") && Contains("a third slower, "
                                                      "TORCH_SCRIPTED_FACTOR=1.3 against default"));
  const auto document = json::parse(run({"comparison", "show", id, "--json"}).out);
  CHECK(document.at("purpose") == "study");
  CHECK(document.at("settings") == json{{"name", "a third slower"},
                                        {"baseline", "default"},
                                        {"candidate", "TORCH_SCRIPTED_FACTOR=1.3"}});
  CHECK(json::parse(run({"comparison", "show", "1", "--json"}).out).at("settings").is_null());
  const auto listed = json::parse(run({"comparison", "list", "--purpose", "study", "--json"}).out);
  CHECK(listed.at("items").size() == 1);
  const auto page = run({"comparison", "show", id, "--format", "markdown"}).out;
  CHECK_THAT(page, Contains("=1.3 against default") &&
                       Contains("--between default --and TORCH_SCRIPTED_FACTOR=1.3"));
}

TEST_CASE_METHOD(StoredStudy, "the stored answers of a study are printed without measuring") {
  const auto shown = run({"study", study, "--stored"});
  INFO(shown.out << shown.err);
  CHECK(shown.status == 1);
  CHECK_THAT(shown.out,
             Contains("Slower") && Contains("a third slower") && !Contains("never measured"));
  const auto document = json::parse(run({"study", study, "--stored", "--json"}).out);
  const auto& pair = document.at("pairs").at(0);
  CHECK(document.at("pairs").size() == 1);
  CHECK(pair.at("between") == "default");
  CHECK(pair.at("time_ratio").get<double>() == Approx(1.3).epsilon(0.05));
  CHECK(pair.at("benchmarks") == 1);
  CHECK(pair.at("machine") == "scripted");
  CHECK(pair.at("comparison").at("id") == std::stoi(id));
  const auto page = run({"study", study, "--stored", "--format", "markdown"}).out;
  CHECK_THAT(page, Contains("# Slower") && Contains("Is it a third?") &&
                       Contains("- machine: scripted") && Contains("| dlrm"));
  const auto larger =
      folder.write("larger.toml", "preset = \"paper\"\n" + std::string(kStudy)).string();
  CHECK(run({"study", larger, "--stored"}).status == 2);  // it was measured at another preset
  auto of_memory = std::string(kStudy);
  of_memory.replace(of_memory.find("\"time\""), 6, "\"cpu_peak\"");
  const auto memory = folder.write("memory.toml", of_memory).string();
  CHECK(run({"study", memory, "--stored"}).status == 2);  // its memory was not measured
  const auto other = run({"study", study, "no-such-build", "--stored"});
  CHECK(other.status == 2);
  CHECK_THAT(other.err, Contains("no pair of " + study + " has been measured on no-such-build"));
}

TEST_CASE_METHOD(StoredStudy, "a study that cannot be carried out is refused before it is begun") {
  const auto refused = [this](const std::string& text) {
    const auto written = folder.write("wrong.toml", text).string();
    const auto done = run({"study", written, "2026-08-17"});
    CHECK(done.status == 2);
    return done.err;
  };
  const std::string pair = "title = \"T\"\n[[pair]]\nname = \"n\"\nbetween = \"default\"\n";
  CHECK_THAT(refused(pair + "and = \"speed=2\""),
             Contains("wrong.toml:5: and: unknown setting \"speed=2\""));
  CHECK_THAT(refused(pair + "and = \"default\""), Contains("both settings are default"));
  CHECK_THAT(refused(pair + "and = \"threads=2\"\nworkloads = [\"dlrn\"]"),
             Contains("wrong.toml:2: pair \"n\": there is no workload \"dlrn\""));
  CHECK_THAT(refused(pair + "and = \"workload=dlrn\""),
             Contains("pair \"n\": there is no workload \"dlrn\""));
  CHECK(run({"study", (folder.path() / "missing.toml").string()}).status == 2);
}

TEST_CASE_METHOD(StoredStudy, "two settings are compared on one build, and both are named") {
  const auto refused = [this](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    const auto done = run(std::move(arguments));
    CHECK(done.status == 2);
    return done.err;
  };
  CHECK_THAT(refused({"2026-08-17", "--between", "threads=1"}), Contains("--and"));
  CHECK_THAT(refused({"2026-08-16", "2026-08-17", "--between", "threads=1", "--and", "threads=2"}),
             Contains("--between compares one BUILD under two settings"));
  CHECK_THAT(refused({"2026-08-17", "--between", "threads=1", "--and", "threads=1"}),
             Contains("both settings are threads=1"));
  CHECK_THAT(refused({"2026-08-17", "--between", "threads=1", "--and", "PATH=/tmp"}),
             Contains("PATH cannot be set"));
  CHECK_THAT(refused({"2026-08-17", "--between", "machine=1", "--and", "threads=1"}),
             Contains("must be machine= and"));
  CHECK_THAT(refused({"2026-08-17", "--between", "default", "--and", "workload=dlrn"}),
             Contains("there is no workload \"dlrn\""));
}
