#include "order_step.hpp"

#include <catch2/catch.hpp>
#include <future>

#include "fake_slurm.hpp"

using namespace torchwatch;
using namespace std::chrono_literals;
using cluster::OrderStep;
using process::Exited;

namespace {

bool ended_by(const process::ProcessOutcome& outcome, const process::ProcessEnd& end) {
  return outcome.end.index() == end.index();
}

/// A step on a node of which the test says what srun does.
struct Srun {
  explicit Srun(test::FakeProcessRunner::Script script) : processes(std::move(script)) {}
  test::FakeProcessRunner processes;
  cluster::SlurmClient client{processes};
  OrderStep step{client, {.job = "7", .name = "lane", .program = "/carry", .on_output = {}}};
};

}  // namespace

TEST_CASE("orders of a lane reach one step, and each gets the answer that is its own") {
  Srun srun([](const process::ProcessSpec& spec, const std::stop_token&) {
    while (const auto line = test::FakeSlurm::line_of(spec.input_descriptor)) {
      const auto answer = test::whole_answer(orders::parse_order(*line).value());
      // In pieces that end anywhere, with words of srun's between them.
      for (const char byte : answer) spec.on_output({&byte, 1});
      spec.on_output("srun: a warning\n");
    }
    return test::ended(Exited{0});
  });
  for (const char* const attempt : {"a", "b"}) {
    const auto order = test::sample_order({attempt});
    const auto outcome = srun.step.carry_out(order, 60s, {});
    CHECK(process::succeeded(outcome));
    const auto answer = orders::parse_answer(order, outcome.output, outcome.duration + 1s);
    REQUIRE(answer.is_whole());
    CHECK(std::get<RunResult>(answer.outcomes[0]).attempt == attempt);
  }
  CHECK(srun.processes.specs().size() == 1);
  CHECK_FALSE(srun.step.has_ended());
}

TEST_CASE("a step that ends in an order says how it ended and what was said until then") {
  Srun srun([](const process::ProcessSpec& spec, const std::stop_token&) {
    std::ignore = test::FakeSlurm::line_of(spec.input_descriptor);
    spec.on_output("srun: error: Node failure on n1\n");
    return test::ended(Exited{0});
  });
  const auto order = test::sample_order({"a"});
  const auto outcome = srun.step.carry_out(order, 60s, {});
  CHECK(outcome.output == "srun: error: Node failure on n1\n");
  CHECK_FALSE(orders::parse_answer(order, outcome.output, 60s).is_whole());
  CHECK(srun.step.has_ended());
  const auto next = srun.step.carry_out(order, 60s, {});
  CHECK(ended_by(next, Exited{0}));
  CHECK(next.output.empty());
}

TEST_CASE("an answer counts, whatever srun's end is") {
  Srun srun([](const process::ProcessSpec& spec, const std::stop_token&) {
    const auto line = test::FakeSlurm::line_of(spec.input_descriptor);
    spec.on_output(test::whole_answer(orders::parse_order(line.value()).value()));
    return test::ended(process::Signalled{9});
  });
  CHECK(process::succeeded(srun.step.carry_out(test::sample_order({"a"}), 60s, {})));
}

TEST_CASE("an order that is not answered ends at its limit, or when it is stopped") {
  Srun srun([](const process::ProcessSpec& spec, const std::stop_token&) {
    while (test::FakeSlurm::line_of(spec.input_descriptor)) {
    }
    return test::ended(process::Cancelled{});
  });
  const auto order = test::sample_order({"a"});
  SECTION("at its limit") {
    CHECK(ended_by(srun.step.carry_out(order, 0s, {}), process::TimedOut{}));
  }
  SECTION("stopped before") {
    std::stop_source stop;
    stop.request_stop();
    CHECK(ended_by(srun.step.carry_out(order, 60s, stop.get_token()), process::Cancelled{}));
  }
  SECTION("stopped meanwhile") {
    std::stop_source stop;
    auto outcome = std::async(std::launch::async,
                              [&] { return srun.step.carry_out(order, 60s, stop.get_token()); });
    stop.request_stop();
    CHECK(ended_by(outcome.get(), process::Cancelled{}));
  }
  CHECK_FALSE(srun.step.has_ended());
}

TEST_CASE("a node that talks without end is not listened to for ever") {
  Srun srun([](const process::ProcessSpec& spec, const std::stop_token&) {
    std::ignore = test::FakeSlurm::line_of(spec.input_descriptor);
    const std::string much(1U << 20U, 'x');
    for (int i = 0; i < 100; ++i) spec.on_output(much);
    while (test::FakeSlurm::line_of(spec.input_descriptor)) {
    }
    return test::ended(process::Cancelled{});
  });
  const auto outcome = srun.step.carry_out(test::sample_order({"a"}), 60s, {});
  CHECK(ended_by(outcome, process::OutputLimit{}));
}

TEST_CASE("a step that reads nothing gets orders until its pipe is full, and then is lost") {
  std::promise<void> may_end;
  Srun srun([&](const process::ProcessSpec&, const std::stop_token&) {
    may_end.get_future().wait();
    return test::ended(Exited{0});
  });
  auto order = test::sample_order({"a"});
  order.settings.hidden.assign(1, std::string(600'000, 'x'));
  CHECK(ended_by(srun.step.carry_out(order, 0s, {}), process::TimedOut{}));
  CHECK(ended_by(srun.step.carry_out(order, 0s, {}), process::Lost{}));
  may_end.set_value();
}
