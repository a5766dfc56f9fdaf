#include "torchwatch/signals/orders.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <optional>
#include <vector>

using namespace torchwatch;
using signals::Order;
using signals::RunUnderWay;

namespace {

/// A command with a run under way, and the orders that reached it.
struct Measuring {
  signals::Orders orders;
  std::chrono::steady_clock::time_point now;
  std::vector<Order> heard;
  signals::Listening listening{&orders, [this](Order order) { heard.push_back(order); }};
  std::optional<RunUnderWay> run{std::in_place, &orders.last_run()};

  /// Takes a signal, seconds behind the one before.
  bool take(int signal) {
    now += std::chrono::seconds(2);
    return orders.take(signal, now);
  }
  bool is_stopped() const { return orders.stop().stop_requested(); }
};

}  // namespace

TEST_CASE("the first SIGINT stops the work when the run under way is stored") {
  Measuring work;
  CHECK(work.take(SIGINT));
  CHECK_FALSE(work.is_stopped());
  CHECK(work.heard == std::vector{Order::say_last_run});
  work.run.reset();
  CHECK(work.is_stopped());
}

TEST_CASE("a second SIGINT stops the work at once, and a third ends the process") {
  Measuring work;
  CHECK(work.take(SIGINT));
  CHECK(work.take(SIGINT));
  CHECK(work.is_stopped());
  CHECK_FALSE(work.take(SIGINT));
}

TEST_CASE("SIGINT between two runs stops the work at once") {
  Measuring work;
  work.run.reset();
  CHECK(work.take(SIGINT));
  CHECK(work.is_stopped());
  CHECK(work.heard.empty());
}

TEST_CASE("a run that ends stops nothing unless it was to be the last") {
  Measuring work;
  work.run.reset();
  CHECK_FALSE(work.is_stopped());
}

TEST_CASE("SIGTERM and a closed terminal stop the work at once") {
  for (const int signal : {SIGTERM, SIGHUP}) {
    Measuring work;
    CHECK(work.take(signal));
    CHECK(work.is_stopped());
    CHECK_FALSE(work.take(signal));
  }
}

TEST_CASE("a signal that comes twice within a moment is one") {
  Measuring work;
  work.run.reset();
  for (const int signal : {SIGTERM, SIGTERM}) CHECK(work.orders.take(signal, work.now));
  CHECK(work.is_stopped());
  CHECK_FALSE(work.orders.take(SIGHUP, work.now));
}

TEST_CASE("SIGTERM does not wait for a last run") {
  Measuring work;
  CHECK(work.take(SIGINT));
  CHECK(work.take(SIGTERM));
  CHECK(work.is_stopped());
}

TEST_CASE("SIGUSR1 asks for the state and stops nothing, however often it comes") {
  Measuring work;
  for (int i = 0; i < 3; ++i) CHECK(work.take(SIGUSR1));
  CHECK(work.heard == std::vector(3, Order::say_state));
  CHECK_FALSE(work.is_stopped());
}

TEST_CASE("no order arrives once the listener is gone") {
  signals::Orders orders;
  int heard = 0;
  {
    const signals::Listening listening(&orders, [&](Order) { ++heard; });
    orders.take(SIGUSR1, {});
  }
  orders.take(SIGUSR1, {});
  CHECK(heard == 1);
}
