#include "runner_process.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <nlohmann/json.hpp>

#include "skipped.hpp"
#include "torchwatch/protocol/request.hpp"
#include "torchwatch/protocol/result.hpp"

using namespace torchwatch;
using nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("a timing pass writes a valid result with its environment") {
  const auto result = measure(request());
  REQUIRE(result.status == RunStatus::ok);
  REQUIRE(result.samples_ns.size() == 5);
  REQUIRE(result.values.at(Metric::first_iteration) > 0);
  const auto items = static_cast<double>(result.values.at(Metric::throughput)) *
                     static_cast<double>(result.values.at(Metric::time));
  REQUIRE(items == Approx(256 * 1e12).epsilon(0.001));  // its batch, in 1,000 s
  REQUIRE(result.environment.facts.at("threads") == "1");
  REQUIRE(result.environment.facts.at("heap").find("fixed thresholds") != std::string::npos);
  REQUIRE(result.environment.facts.contains("cpu_model"));
  REQUIRE(result.environment.facts.contains("build.library.libtorch_cpu.so"));
  REQUIRE(result.environment.facts.contains("library.libc.so.6"));
  REQUIRE(result.environment.volatile_facts.contains("minor_faults"));
  REQUIRE(result.environment.volatile_facts.contains("is_virtual"));
  REQUIRE(result.environment.volatile_facts.at("wall_ns") > 0);
}

TEST_CASE("the facts of a run state the settings of its threads") {
  auto wanted = request();
  wanted["threads"] = 2;
  const auto without_settings = measure(wanted).environment.facts;
  const std::map<std::string, std::string> settings{{"GOMP_SPINCOUNT", "10000"},
                                                    {"OMP_PROC_BIND", "close"}};
  for (const auto& [name, value] : settings) REQUIRE(setenv(name.c_str(), value.c_str(), 1) == 0);
  const auto facts = measure(wanted).environment.facts;
  for (const auto& [name, value] : settings) REQUIRE(unsetenv(name.c_str()) == 0);
  REQUIRE(facts.at("env.GOMP_SPINCOUNT") == "10000");
  REQUIRE(facts.at("placement") == "threads bound by OpenMP: close");
  REQUIRE_FALSE(without_settings.contains("env.GOMP_SPINCOUNT"));
  REQUIRE(without_settings.at("placement") == "not pinned: several threads");
}

TEST_CASE("two real runs are interleaved, and state the facts of a run without a partner") {
  const int threads = GENERATE(1, 2);
  const Folder folder;
  const auto own = (folder / "own").string();
  const auto other = (folder / "other").string();
  REQUIRE(mkfifo(own.c_str(), 0600) == 0);
  REQUIRE(mkfifo(other.c_str(), 0600) == 0);
  const int held[] = {open(own.c_str(), O_RDWR), open(other.c_str(), O_RDWR)};
  auto alone = request();
  alone["threads"] = threads;
  const auto interleaved = [&](const std::string& mine, const std::string& theirs, bool begins) {
    auto wanted = alone;
    wanted["interleave"] = {{"own", mine}, {"other", theirs}, {"begins", begins}};
    return measure(wanted);
  };
  auto second = std::async(std::launch::async, interleaved, other, own, false);
  const auto first = interleaved(own, other, true);
  for (const auto& result : {first, second.get()}) {
    REQUIRE(result.status == RunStatus::ok);
    REQUIRE(result.samples_ns.size() == 5);
    REQUIRE(result.environment.volatile_facts.at("handovers") >= 5);
    REQUIRE(result.environment.volatile_facts.contains("handovers_not_idle"));
    REQUIRE(result.environment.facts == measure(alone).environment.facts);
  }
  for (const int pipe : held) close(pipe);
}

TEST_CASE("a run whose partner has ended before its first sample measures without one") {
  const Folder folder;
  const auto pipe = (folder / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int held = open(pipe.c_str(), O_RDWR);
  REQUIRE(write(held, &protocol::Interleave::kEnded, 1) == 1);
  auto wanted = request();
  wanted["interleave"] = {{"own", pipe}, {"other", pipe}, {"begins", false}};
  const auto result = measure(wanted);
  REQUIRE(result.samples_ns.size() == 5);
  REQUIRE(result.environment.volatile_facts.at("handovers") == 0);
  close(held);
}

TEST_CASE("two runs of one build state equal facts") {
  REQUIRE(measure(request()).environment.facts == measure(request()).environment.facts);
}

TEST_CASE("a memory pass is exact: two processes state the same bytes") {
  auto wanted = request("tts_angular");
  wanted["pass"] = "memory";
  wanted["mode"] = "train";
  const auto one = measure(wanted);
  const auto two = measure(wanted);
  REQUIRE(one.status == RunStatus::ok);
  REQUIRE(one.values.at(Metric::cpu_peak) == two.values.at(Metric::cpu_peak));
  REQUIRE(one.leak->live_bytes == two.leak->live_bytes);
  REQUIRE(one.values.at(Metric::leak_growth) == 0);
  REQUIRE(one.values.at(Metric::leak_retained) == 0);
  REQUIRE(one.environment.facts.at("heap") == "glibc, mmap threshold held at 131072");
}

TEST_CASE("what a workload computes is stated where it is asked for, equal in two processes") {
  const auto mode = GENERATE("infer", "train");
  auto wanted = request();
  wanted.update(
      {{"workload", "resnet18"}, {"pass", "memory"}, {"mode", mode}, {"leak_iterations", 0}});
  CHECK(measure(wanted).outputs.empty());
  wanted["outputs"] = true;
  const auto first = measure(wanted).outputs;
  const auto second = measure(wanted).outputs;
  REQUIRE_FALSE(first.empty());
  CHECK(first.front().name.find(" float32 [") != std::string::npos);
  CHECK((first.back().name == "gradients") == (std::string(mode) == "train"));
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].name == second[i].name);
    CHECK(first[i].scale > 0);
    CHECK(first[i].figures == second[i].figures);
  }
}

TEST_CASE("a workload that is not there, a device that is not there: results with reasons") {
  const auto unknown = measure(request("alexnet_of_another_day"));
  REQUIRE(unknown.status == RunStatus::failed);
  REQUIRE(unknown.reason.find("torchwatch-runner list") != std::string::npos);

  auto wanted = request();
  wanted["batch"] = 8;
  REQUIRE(measure(wanted).status == RunStatus::unsupported);

  if (fs::exists("/dev/nvidiactl")) {
    test::say_skipped("this machine has NVIDIA's driver");
    return;
  }
  wanted["device"] = "cuda";
  const auto elsewhere = measure(wanted);
  REQUIRE(elsewhere.status == RunStatus::unsupported);
  REQUIRE(elsewhere.reason.find("no CUDA device here: no NVIDIA driver") != std::string::npos);
}

TEST_CASE("the coverage pass counts the operators of an iteration, those of autograd included") {
  auto wanted = request("resnet18");
  wanted["pass"] = "coverage";
  wanted["mode"] = "train";
  const auto trained = measure(wanted);
  REQUIRE(trained.status == RunStatus::ok);
  CHECK(trained.operators.at("aten::convolution") == 20);
  CHECK(trained.operators.at("aten::convolution_backward") == 20);
  CHECK(trained.operators.at("aten::batch_norm") == 20);
  // What a build has is more than one network calls: LibTorch 2.x has more than a thousand.
  CHECK(trained.environment.volatile_facts.at("operators_registered.aten") > 1'000);
  wanted["mode"] = "infer";
  const auto inferred = measure(wanted);
  CHECK(inferred.operators.at("aten::convolution") == 20);
  CHECK_FALSE(inferred.operators.contains("aten::convolution_backward"));
}

TEST_CASE("a workload that throws is a failed run with the reason and without figures") {
  auto wanted = request("timm_resnest");
  wanted["mode"] = "train";
  wanted["batch"] = 1;  // its normalisation over the batch wants two
  const auto result = measure(wanted);
  REQUIRE(result.status == RunStatus::failed);
  REQUIRE(result.reason.find("the workload threw") == 0);
  REQUIRE(result.values.empty());
  REQUIRE(result.environment.facts.contains("cpu_model"));
}

TEST_CASE("a workload that does not fit the memory is refused before it begins") {
  auto wanted = request("resnet18");
  wanted["mode"] = "train";
  wanted["preset"] = "paper";
  wanted["batch"] = 1'000'000;  // some 20 TB
  const auto machine = measure(wanted);
  REQUIRE(machine.status == RunStatus::unsupported);
  INFO(machine.reason);
  REQUIRE(machine.reason.starts_with("needs about "));
  REQUIRE(machine.reason.ends_with("; name a smaller batch or the small preset"));

  wanted["batch"] = 2;
  wanted["limits"] = {{"memory_bytes", std::int64_t{64} << 20}};  // less than LibTorch itself takes
  const auto limited = measure(wanted);
  REQUIRE(limited.status == RunStatus::unsupported);
  INFO(limited.reason);
  REQUIRE(limited.reason.find("at batch 2 and its memory limit leaves 0.00 GiB") !=
          std::string::npos);
}

TEST_CASE("a workload that runs out of memory on the way says so, with what it may take") {
  auto wanted = request("resnet18");
  wanted["mode"] = "train";
  wanted["batch"] = 4096;  // some 10 GiB
  wanted["limits"] = {{"memory_bytes", std::int64_t{1} << 30}};
  const auto limited = measure(wanted);
  REQUIRE(limited.status == RunStatus::failed);
  REQUIRE(
      limited.reason ==
      "the workload ran out of memory at batch 4096 and may take 1.0 GiB; name a smaller batch");

  // Without a limit of the request's the machine's memory is one.
  wanted.erase("limits");
  wanted["batch"] = 16'000'000;  // 700 GiB for its images alone
  const auto machine = measure(wanted);
  REQUIRE(machine.status == RunStatus::failed);
  INFO(machine.reason);
  REQUIRE(machine.reason.starts_with("the workload ran out of memory at batch 16000000 and may "));
}

TEST_CASE("a profile on a CPU has no breakdown and says why") {
  auto wanted = request();
  wanted["pass"] = "profile";
  const auto result = measure(wanted);
  REQUIRE(result.status == RunStatus::ok);
  REQUIRE_FALSE(result.breakdown.has_value());
  REQUIRE(result.breakdown_reason ==
          "a run on the CPU has no device whose time could be broken down");
  REQUIRE(result.environment.facts.contains("cpu_model"));
}

TEST_CASE("the list states what each mode needs of memory") {
  const Folder folder;
  const auto ended = run_runner(folder, {"list", "--json", "resnet18"});
  REQUIRE(ended.status == 0);
  const auto listed = json::parse(ended.output);
  const auto& row = listed.at("workloads").front();
  CHECK(row.at("train_memory_bytes") > row.at("eval_memory_bytes"));
  CHECK(row.at("eval_memory_bytes") > 0);
}

TEST_CASE("a precision changes what is computed, and a missing one is reported") {
  auto wanted = request("resnet18");
  wanted["pass"] = "coverage";
  const auto plain = measure(wanted);
  wanted["precision"] = "amp";
  const auto mixed = measure(wanted);
  REQUIRE(mixed.status == RunStatus::ok);
  const auto casts = [](const protocol::RunResult& result) {
    return result.operators.contains("aten::_to_copy") ? result.operators.at("aten::_to_copy") : 0;
  };
  CHECK(casts(mixed) > casts(plain) + 20);  // as many as ResNet-18 has convolutions, at least
  wanted["precision"] = "tf32";
  const auto refused = measure(wanted);
  CHECK(refused.status == RunStatus::unsupported);
  CHECK(refused.reason == "tf32 is a format of GPUs");
  wanted["workload"] = "dlrm";
  wanted["precision"] = "bf16";
  CHECK(measure(wanted).reason == "it is not built in 16 bits");
}

TEST_CASE("training costs three times the forward, but for the gradient of the images") {
  const auto flops = [](const char* mode) {
    auto wanted = request("alexnet");
    wanted["pass"] = "flops";
    wanted["mode"] = mode;
    wanted["batch"] = 4;
    return measure(wanted).flops_per_iteration.value();
  };
  // 64 kernels of 3 x 11 x 11 at 15 x 15 places of each of four images.
  const std::int64_t first_convolution = 2LL * 4 * 15 * 15 * 64 * 3 * 11 * 11;
  REQUIRE(flops("train") == 3 * flops("infer") - first_convolution);
}

TEST_CASE("the peak of this machine is that of a product of known size") {
  auto wanted = request("alexnet");
  wanted["pass"] = "peak";
  const auto peak = measure(wanted);
  REQUIRE(peak.status == RunStatus::ok);
  CHECK(peak.flops_per_second.value() > 100'000'000);
  CHECK(peak.environment.volatile_facts.at("peak_product_rows") >= 256);
}

TEST_CASE("the list of what is registered builds no network") {
  const Folder folder;
  const auto ended = run_runner(folder, {"list", "--json", "--registered"});
  REQUIRE(ended.status == 0);
  const auto workloads = json::parse(ended.output).at("workloads");
  REQUIRE_FALSE(workloads.empty());
  for (const auto& row : workloads) {
    CHECK_FALSE(row.at("domain").get<std::string>().empty());
    CHECK_FALSE(row.contains("params_trainable"));
  }
}

TEST_CASE("a workload that does not end is a failed run") {
  auto wanted = request("hf_DistilBert");
  wanted["mode"] = "train";
  wanted["warmup"] = 1'000'000;
  wanted["limits"] = {{"time_ms", 700}};
  const auto result = measure(wanted);
  REQUIRE(result.status == RunStatus::failed);
  REQUIRE(result.reason == "did not end within the time limit of 700 ms");
}

TEST_CASE("a bad request is refused with exit status 2 and says what is wrong where") {
  const Folder folder;
  const auto refused = [&](const std::string& text) {
    std::ofstream(folder / "request.json") << text;
    const auto ended =
        run_runner(folder, {"measure", folder / "request.json", folder / "result.json"});
    REQUIRE(ended.status == 2);
    REQUIRE_FALSE(fs::exists(folder / "result.json"));
    return ended.output;
  };
  REQUIRE(refused("{\"schema\": 1, ").find("request.json: not complete JSON") != std::string::npos);
  REQUIRE(refused("{\"schema\": 1}").find("member \"attempt\" is missing") != std::string::npos);
  auto wanted = request();
  wanted["mod"] = "train";
  REQUIRE(refused(wanted.dump()).find("member \"mod\" is not known") != std::string::npos);
}

TEST_CASE("wrong use shows the usage, a result that cannot be written is exit status 3") {
  const Folder folder;
  REQUIRE(run_runner(folder, {}).status == 2);
  REQUIRE(run_runner(folder, {"measure"}).output.find("usage:") != std::string::npos);
  REQUIRE(run_runner(folder, {"mesure"}).output.find("unknown command \"mesure\"") !=
          std::string::npos);
  REQUIRE(run_runner(folder, {"measure", folder / "none.json", "x"}).status == 2);
  REQUIRE(run_runner(folder, {"--help"}).status == 0);
  std::ofstream(folder / "request.json") << request().dump();
  const auto ended =
      run_runner(folder, {"measure", folder / "request.json", folder / "no/folder/result.json"});
  REQUIRE(ended.status == 3);
  REQUIRE(ended.output.find("cannot create") != std::string::npos);
}

TEST_CASE("values and environment answer in JSON") {
  const Folder folder;
  const auto values = run_runner(folder, {"values", "resnet18", "--mode", "grad", "--preset",
                                          "small", "--batch", "1", "--json"});
  REQUIRE(values.status == 0);
  const auto answer = json::parse(values.output);
  REQUIRE(answer["gradient_norm"].get<double>() > 0);
  REQUIRE(answer["outputs"][0]["shape"] == json({1, 1000}));
  REQUIRE(run_runner(folder, {"values", "resnet18"}).status == 2);

  const auto environment = run_runner(folder, {"environment", "--json"});
  REQUIRE(json::parse(environment.output)["facts"].contains("build.torch_version"));
}
