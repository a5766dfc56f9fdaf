#include <catch2/catch.hpp>

#include "executor_fixture.hpp"
#include "torchwatch/records/printable.hpp"

using namespace torchwatch;
using executor::FailureKind;
using executor::LocalExecutor;
using executor::RunFailure;

namespace {

Result<executor::RunOutcome> outcome_of(test::FakeProcessRunner::Script script) {
  const test::ExecutorFixture fixture;
  test::FakeProcessRunner processes(std::move(script));
  LocalExecutor executor(processes, fixture.scratch, {});
  return executor.run(fixture.spec("attempt1"), {});
}

RunFailure failure_of(test::FakeProcessRunner::Script script) {
  const auto outcome = outcome_of(std::move(script));
  REQUIRE(outcome);
  REQUIRE(std::holds_alternative<RunFailure>(*outcome));
  return std::get<RunFailure>(*outcome);
}

bool mentions(const RunFailure& failure, const std::string& text) {
  INFO(failure.reason);
  const bool holds = failure.reason.find(text) != std::string::npos;
  CHECK(holds);
  return holds;
}

std::string good_json() {
  return protocol::to_json(test::good_result("attempt1"));
}

}  // namespace

TEST_CASE("a whole result of the right attempt comes back as it is") {
  const auto outcome = outcome_of(test::writes(good_json()));
  REQUIRE(outcome);
  REQUIRE(std::holds_alternative<RunResult>(*outcome));
  CHECK(std::get<RunResult>(*outcome).values.at(Metric::time) == 1001);
}

TEST_CASE("a first iteration longer than its process lived is not believed") {
  auto result = test::good_result("attempt1");
  result.values[Metric::first_iteration] = 86'000'000'000'000;  // of a fake process: nearly none
  CHECK(mentions(failure_of(test::writes(protocol::to_json(result))),
                 "ms of a first iteration, more than the process lived"));
}

TEST_CASE("how a runner ended comes before what it wrote") {
  CHECK(mentions(failure_of(test::writes(good_json(), process::Signalled{11})), "SIGSEGV"));
  CHECK(mentions(failure_of(test::writes(good_json(), process::Exited{3})), "exit status 3"));
  CHECK(mentions(failure_of(test::writes(good_json(), process::TimedOut{})), "time limit"));
  CHECK(mentions(failure_of(test::writes(good_json(), process::OutputLimit{})), "output limit"));
  CHECK(mentions(failure_of(test::writes(good_json(), process::MemoryLimit{9})), "more memory"));
  CHECK(mentions(failure_of(test::writes(good_json(), process::Abandoned{})), "SIGKILL"));
}

TEST_CASE("of which kind a failure is follows from how its runner ended") {
  const auto kind_of = [](process::ProcessEnd end) {
    return failure_of(test::writes(good_json(), std::move(end))).kind;
  };
  CHECK(kind_of(process::Exited{3}) == FailureKind::exited);
  CHECK(kind_of(process::OutputLimit{}) == FailureKind::flooded);
  CHECK(kind_of(process::Signalled{9}) == FailureKind::killed);
  CHECK(kind_of(process::Signalled{11}) == FailureKind::other);
  CHECK(kind_of(process::TimedOut{}) == FailureKind::late);
  CHECK(failure_of(test::writes("")).kind == FailureKind::unbelieved);
}

TEST_CASE("a runner that never started is the executor's failure, not the run's") {
  const auto outcome = outcome_of(test::writes("", process::SpawnFailed{"no such file"}));
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::unavailable);
  CHECK(outcome.error().message.find("no such file") != std::string::npos);
}

TEST_CASE(
    "no result, a damaged one, another attempt's and too large a one give different reasons") {
  const auto nothing = [](const process::ProcessSpec&, std::stop_token) {
    return test::ended(process::Exited{0});
  };
  CHECK(mentions(failure_of(nothing), "left no result"));
  CHECK(failure_of(nothing).kind == FailureKind::unanswered);
  const std::string whole = good_json();
  CHECK(mentions(failure_of(test::writes("")), "damaged"));
  CHECK(mentions(failure_of(test::writes(whole.substr(0, whole.size() / 2))), "damaged"));
  const std::string other = protocol::to_json(test::good_result("attempt0"));
  CHECK(mentions(failure_of(test::writes(other)), "another attempt"));
  const std::string padding(protocol::kResultBytesMax, ' ');
  CHECK(mentions(failure_of(test::writes(whole + padding)), "larger than"));
}

TEST_CASE("a result that is no UTF-8 fails for a reason that can be stored and printed") {
  auto text = good_json();
  const std::string workload = "\"attempt\"";
  text.replace(text.find(workload), workload.size(), "\"\xff\xfe\"");
  const auto failure = failure_of(test::writes(text));
  CHECK(mentions(failure, "result is damaged: not complete JSON"));
  CHECK(failure.reason == printable(failure.reason));
}

TEST_CASE("a result that is a link is not followed: its end could be our own secret") {
  const test::TemporaryFolder folder;
  const auto secret = folder.write("token", "tw_secret");
  const auto failure = failure_of([&](const process::ProcessSpec& spec, std::stop_token) {
    std::filesystem::create_symlink(secret, spec.arguments.at(2));
    return test::ended(process::Exited{0});
  });
  CHECK(mentions(failure, "is a link, not a file"));
  CHECK(failure.reason.find("tw_secret") == std::string::npos);
}

TEST_CASE("a result cut off anywhere is never believed") {
  const std::string whole = good_json();
  const test::ExecutorFixture fixture;
  for (std::size_t size = 0; size + 1 < whole.size(); size += 7) {
    test::FakeProcessRunner processes(test::writes(whole.substr(0, size)));
    LocalExecutor executor(processes, fixture.scratch, {});
    const auto outcome = executor.run(fixture.spec("attempt1"), {});
    REQUIRE(outcome);
    CHECK(std::holds_alternative<RunFailure>(*outcome));
  }
}

TEST_CASE("a result that claims more time than the process lived is a lie") {
  auto result = test::good_result("attempt1");
  result.iterations_per_sample = 10'000'000;
  CHECK(mentions(failure_of(test::writes(protocol::to_json(result))), "process lived"));
}

TEST_CASE("an ok result without the figures of its pass is not believed") {
  auto result = test::good_result("attempt1");
  result.samples_ns.clear();
  result.values = {{Metric::cpu_peak, 1}};
  CHECK(mentions(failure_of(test::writes(protocol::to_json(result))), "samples_ns"));
}

TEST_CASE("the end of the output is kept with a failure, as plain text of bounded size") {
  const std::string noise = std::string(100'000, 'x') + "\x1b[31mlast\xff words\n\tend";
  const auto failure = failure_of(test::writes("", process::Exited{1}, noise));
  CHECK(failure.output.size() <= 16384);
  CHECK(failure.output.ends_with("x?[31mlast? words\n\tend"));
}
