#include <algorithm>
#include <catch2/catch.hpp>

#include "copied_machine.hpp"
#include "fake_slurm.hpp"

using namespace torchwatch;

TEST_CASE("what a node lacks is sent to it, once, and the order with it again") {
  const test::CopiedMachine machine;
  const auto run = machine.block().runs[0];
  test::FakeSlurm slurm;
  auto settings = slurm.settings();
  settings.copies = true;
  int lacks = 1;
  slurm.answers_orders = [&](const orders::Order& order) {
    if (lacks-- <= 0) return test::whole_answer(order);
    return orders::lack_line(order,
                             {.folder = "/disk", .hashes = {order.copies[0].files[0].sha256}});
  };
  cluster::SlurmExecutor executor(slurm.processes, slurm.clock, settings);
  SECTION("it is there then") {
    REQUIRE(executor.run(run, {}));
    CHECK(slurm.orders.size() == 2);
    CHECK(slurm.calls("sbcast") == 1);
    const auto& [path, hash] = slurm.orders[0].copies[0].files[0];
    CHECK(slurm.ever_asked("/disk/" + hash + ".arriving"));
    CHECK(slurm.ever_asked((machine.path() / "a" / path).string()));
    REQUIRE(executor.run(run, {}));
    CHECK(slurm.calls("sbcast") == 1);
  }
  SECTION("a node that keeps nothing is left out") {
    lacks = 3;
    REQUIRE(executor.run(run, {}));
    CHECK(slurm.calls("sbcast") == 2);
    CHECK(slurm.ever_asked("--exclude=n1"));
  }
  SECTION("what cannot be sent loses the order") {
    slurm.says("sbcast", process::Exited{1}, "sbcast: error: No space left on device\n");
    REQUIRE(executor.run(run, {}));
    CHECK(slurm.ever_asked("--exclude=n1"));
    CHECK(std::ranges::any_of(slurm.log, [](const std::string& text) {
      return text.find("No space left on device") != std::string::npos;
    }));
  }
}
