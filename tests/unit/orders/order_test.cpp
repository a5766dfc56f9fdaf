#include "torchwatch/orders/order.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "order_fixture.hpp"

using namespace torchwatch;
using namespace torchwatch::orders;
using executor::FailureKind;
using executor::RunFailure;
using namespace std::chrono_literals;
using test::sample_order;
using test::whole_answer;

namespace {

std::string failure_of(const Answer& answer, std::size_t index = 0) {
  REQUIRE(answer.outcomes.size() > index);
  const auto* failure = std::get_if<RunFailure>(&answer.outcomes[index]);
  REQUIRE(failure != nullptr);
  return failure->reason;
}

}  // namespace

TEST_CASE("an order that is written and read again is the same, on one line") {
  auto order = sample_order({"a", "b"});
  order.block.runs[1].fresh_copy = true;
  order.settings.threads = 3;
  order.settings.sandbox = "bubblewrap";
  order.settings.hidden = {"/etc/token \"x\"\n"};
  const auto text = to_json(order);
  CHECK(text.find('\n') == text.size() - 1);
  const auto read = parse_order(text);
  REQUIRE(read);
  CHECK(to_json(*read) == text);
  CHECK(read->block.runs[1].fresh_copy);
  CHECK(read->settings.hidden == order.settings.hidden);
}

TEST_CASE("the command of an external workload reaches the node as it is") {
  auto order = sample_order({"a", "b"});
  order.block.runs[1].command = {.words = {"/usr/bin/python3", "./x \"y\""},
                                 .readable = {"/opt/mlp"}};
  order.block.runs[1].request.metrics = {Metric::time};
  const auto read = parse_order(to_json(order));
  REQUIRE(read);
  CHECK_FALSE(read->block.runs[0].command.has_value());
  REQUIRE(read->block.runs[1].command.has_value());
  CHECK(read->block.runs[1].command->words == order.block.runs[1].command->words);
  CHECK(read->block.runs[1].command->readable == order.block.runs[1].command->readable);
  CHECK(read->block.runs[1].request.metrics == order.block.runs[1].request.metrics);
}

TEST_CASE("an order that is cut, strange or of another version is refused") {
  const auto text = to_json(sample_order({"a"}));
  const std::string of_later = "{\"carry\":9" + text.substr(10);
  for (const auto& wrong : {std::string(), text.substr(0, text.size() / 2), std::string("[]"),
                            std::string("{}"), std::string(100'000, '['), of_later}) {
    CHECK_FALSE(parse_order(wrong));
  }
}

TEST_CASE("an order without runs, with too many, or with half a pair is refused") {
  auto pair = sample_order({"a", "b"});
  pair.block.is_in_pairs = true;
  REQUIRE(parse_order(to_json(pair)));
  CHECK(parse_order(to_json(pair))->block.is_in_pairs);
  auto half = pair;
  half.block.runs.pop_back();
  CHECK(parse_order(to_json(half)).error().message == "order: one run of a pair is missing");
  for (const std::size_t runs : {std::size_t{0}, kRunsMax + 1}) {
    auto order = sample_order({"a"});
    order.block.runs.assign(runs, test::sample_run("a"));
    CHECK(parse_order(to_json(order)).error().message == "order: must have 1 to 16 runs");
  }
}

TEST_CASE("a whole answer has an outcome for each run, in the order of the runs") {
  const auto order = sample_order({"a", "b"});
  auto turned =
      greeting_line(order, "n2") + outcome_line("b", test::believable("b")) +
      outcome_line("a",
                   RunFailure{.reason = "crashed", .output = "x", .kind = FailureKind::killed}) +
      ended_line(order);
  const auto answer = parse_answer(order, turned, 1s);
  REQUIRE(answer.is_whole());
  CHECK(answer.node == "n2");
  CHECK(failure_of(answer) == "crashed");
  CHECK(std::get<RunFailure>(answer.outcomes[0]).kind == FailureKind::killed);
  CHECK(std::get<RunResult>(answer.outcomes[1]).attempt == "b");
}

TEST_CASE("srun's own messages between the lines take nothing from an answer") {
  const auto order = sample_order({"a"});
  const auto answer =
      parse_answer(order, "srun: a warning\n" + whole_answer(order) + "srun: error: x\n", 1s);
  CHECK(answer.is_whole());
  CHECK(answer.messages == "srun: a warning\nsrun: error: x\n");
}

TEST_CASE("an answer that is cut anywhere before its last line counts as nothing") {
  const auto order = sample_order({"a", "b"});
  const auto text = whole_answer(order);
  for (std::size_t size = 0; size + 1 < text.size(); size += 7) {
    INFO(size);
    CHECK_FALSE(parse_answer(order, text.substr(0, size), 1s).is_whole());
  }
}

TEST_CASE("an answer of another order, or of an earlier try of this one, counts as nothing") {
  const auto order = sample_order({"a"});
  auto earlier = order;
  earlier.id = "a-0";
  CHECK_FALSE(parse_answer(order, whole_answer(earlier), 1s).is_whole());
  CHECK_FALSE(parse_answer(order, whole_answer(sample_order({"x"})), 1s).is_whole());
}

TEST_CASE("an outcome that is there twice makes the answer count as nothing") {
  const auto order = sample_order({"a"});
  const auto twice = outcome_line("a", test::believable("a")) + whole_answer(order);
  CHECK_FALSE(parse_answer(order, twice, 1s).is_whole());
}

TEST_CASE("a result that cannot be believed is a run that failed, as it is on this machine") {
  const auto order = sample_order({"a"});
  const auto told = [&](const RunResult& result) {
    return failure_of(parse_answer(order, outcome_line("a", result) + ended_line(order), 1s));
  };
  auto hours = test::believable("a");
  for (auto& sample : hours.samples_ns) sample = 3'600'000'000'000;
  hours.values[Metric::time] = 3'600'000'000'000;
  CHECK(told(hours).find("more than the process lived") != std::string::npos);
  CHECK(told(test::believable("another")).find("cannot be believed") != std::string::npos);
  const auto cut = "{\"attempt\":\"a\",\"result\":\"{\"}\n" + ended_line(order);
  CHECK(failure_of(parse_answer(order, cut, 1s)).find("damaged") != std::string::npos);
}

TEST_CASE("a refusal gives the node's reason, printable and short") {
  const auto order = sample_order({"a"});
  const auto answer = parse_answer(order,
                                   refusal_line(order,
                                                "no\x01"
                                                "disk" +
                                                    std::string(9000, 'x')),
                                   1s);
  CHECK_FALSE(answer.is_whole());
  CHECK(answer.refusal.starts_with("no?disk"));
  CHECK(answer.refusal.size() <= 4096);
  CHECK(parse_answer(order, refusal_line(sample_order({"b"}), "no"), 1s).refusal.empty());
}

TEST_CASE("no text that a node sends ends the service") {
  const auto order = sample_order({"a"});
  const std::string deep = "{\"a\":" + std::string(200'000, '[') + "\n";
  CHECK_FALSE(parse_answer(order, deep, 1s).is_whole());
}

TEST_CASE("an answer that was changed anywhere is whole with its last line, or counts as nothing") {
  const auto order = sample_order({"a", "b"});
  auto last = ended_line(order);
  last.pop_back();  // the line break, which may be any
  CHECK(rc::check("all runs or none, each with its own outcome", [&] {
    auto text = whole_answer(order);
    const auto changes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < changes; ++i) {
      text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    }
    const auto answer = parse_answer(order, text, 1s);
    RC_ASSERT(answer.outcomes.empty() || answer.outcomes.size() == 2);
    RC_ASSERT(answer.outcomes.empty() || text.find(last) != std::string::npos);
    for (std::size_t i = 0; i < answer.outcomes.size(); ++i) {
      const auto* result = std::get_if<RunResult>(&answer.outcomes[i]);
      if (result == nullptr) continue;
      RC_ASSERT(result->attempt == order.block.runs[i].request.attempt);
      RC_ASSERT(std::ranges::all_of(result->samples_ns, [](auto ns) { return ns > 0; }));
    }
  }));
}
