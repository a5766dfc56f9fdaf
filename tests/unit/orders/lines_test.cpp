#include "lines.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <future>

#include "torchwatch/orders/order.hpp"

using namespace torchwatch;
using orders::Lines;

namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{-1, -1};
    REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
    output.reset(ends[0]);
    input.reset(ends[1]);
  }
  void write_all(const std::string& text) const {
    for (std::size_t written = 0; written < text.size();) {
      const ssize_t got = write(input.get(), text.data() + written, text.size() - written);
      if (got <= 0) return;
      written += static_cast<std::size_t>(got);
    }
  }
  UniqueFd output;
  UniqueFd input;
};

}  // namespace

TEST_CASE("lines come one by one, however they were written") {
  Pipe pipe;
  Lines lines(pipe.output.get(), {});
  pipe.write_all("a\nb");
  CHECK(lines.next().value() == "a");
  pipe.write_all("c\n\n");
  CHECK(lines.next().value() == "bc");
  CHECK(lines.next().value().value().empty());
}

TEST_CASE("after the end of the input there are no lines, and one without an end is left out") {
  Pipe pipe;
  Lines lines(pipe.output.get(), {});
  pipe.write_all("whole\ncut of");
  pipe.input.reset();
  CHECK(lines.next().value() == "whole");
  CHECK_FALSE(lines.next().value());
  CHECK_FALSE(lines.next().value());
}

TEST_CASE("a line longer than an order is refused") {
  Pipe pipe;
  Lines lines(pipe.output.get(), {});
  auto writer = std::async(std::launch::async, [&] {
    pipe.write_all(std::string(orders::kOrderBytesMax + 60'000, 'x'));
    pipe.input.reset();
  });
  const auto line = lines.next();
  REQUIRE_FALSE(line);
  CHECK(line.error().code == ErrorCode::invalid);
}

TEST_CASE("whoever waits for a line is woken by a stop") {
  Pipe pipe;
  std::stop_source stop;
  Lines lines(pipe.output.get(), stop.get_token());
  auto line = std::async(std::launch::async, [&] { return lines.next(); });
  stop.request_stop();
  CHECK_FALSE(line.get().value());
  CHECK_FALSE(lines.next().value());
}
