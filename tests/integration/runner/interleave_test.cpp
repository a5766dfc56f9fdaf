#include "torchwatch/runner/interleave.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <latch>
#include <mutex>
#include <thread>

#include "active_thread.hpp"
#include "fake_workload.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/runner/timing_pass.hpp"

using namespace torchwatch;
using namespace torchwatch::runner;
using namespace std::chrono_literals;

namespace {

/// Two pipes and the two ends that processes open.
struct Pipes {
  test::TemporaryFolder folder;
  std::string a = folder.path() / "a";
  std::string b = folder.path() / "b";

  Pipes() {
    REQUIRE(mkfifo(a.c_str(), 0600) == 0);
    REQUIRE(mkfifo(b.c_str(), 0600) == 0);
  }
  Interleave first() const { return Interleave::open({a, b, true}).value(); }
  Interleave second() const { return Interleave::open({b, a, false}).value(); }
};

/// Who did something, in order.
class Diary {
 public:
  void note(char who) {
    const std::scoped_lock lock(mutex_);
    text_ += who;
  }
  const std::string& text() const { return text_; }

 private:
  std::mutex mutex_;
  std::string text_;
};

void work(Interleave interleave, char who, int times, Diary& diary) {
  for (int i = 0; i < times; ++i) {
    interleave.acquire();
    diary.note(who);
    interleave.hand_over();
  }
  interleave.finish();
  diary.note('.');
}

std::string diary_of(int times_of_first, int times_of_second) {
  const Pipes pipes;
  auto first = pipes.first();
  auto second = pipes.second();
  Diary diary;
  {
    const std::jthread other([&] { work(std::move(second), 'B', times_of_second, diary); });
    work(std::move(first), 'A', times_of_first, diary);
  }
  return diary.text();
}

std::string refusal(const protocol::Interleave& pipes) {
  const auto opened = Interleave::open(pipes);
  REQUIRE_FALSE(opened);
  REQUIRE(opened.error().code == ErrorCode::unavailable);
  return opened.error().message;
}

}  // namespace

TEST_CASE("two processes alternate, and neither leaves before the other has measured everything") {
  REQUIRE(diary_of(3, 3) == "ABABAB..");
  REQUIRE(diary_of(5, 2) == "ABABAAA..");
  REQUIRE(diary_of(1, 4) == "ABBBB..");
}

TEST_CASE("a process without a partner never waits") {
  Interleave alone;
  alone.acquire();
  alone.hand_over();
  alone.acquire();
  alone.finish();
  REQUIRE(alone.handovers() == 0);
}

TEST_CASE("nobody waits for a partner that has ended") {
  const Pipes pipes;
  auto second = pipes.second();
  const auto first = pipes.first();  // keeps the pipes open
  std::ofstream(pipes.b) << protocol::Interleave::kEnded << std::flush;
  second.acquire();
  second.hand_over();
  second.acquire();
  second.finish();
  REQUIRE(second.handovers() == 0);
}

TEST_CASE("a handover while a thread still runs is counted") {
  const Pipes pipes;
  auto first = pipes.first();
  const test::ActiveThread active;
  first.hand_over();
  REQUIRE(first.handovers_not_idle() == 1);
}

TEST_CASE("who begins says how large its batches are, where both know that message") {
  const Pipes pipes;
  const bool agree = GENERATE(true, false);
  auto first = Interleave::open({pipes.a, pipes.b, true, agree}).value();
  auto second = Interleave::open({pipes.b, pipes.a, false, agree}).value();
  first.state_doublings(3);
  first.hand_over();
  second.acquire();
  REQUIRE(second.partners_doublings() == (agree ? std::optional(3) : std::nullopt));
  REQUIRE_FALSE(first.partners_doublings());
}

TEST_CASE("a pipe that is missing, or not a pipe, is named") {
  const test::TemporaryFolder folder;
  const auto missing = (folder.path() / "missing").string();
  REQUIRE(refusal({missing, missing, true}).find(missing + ": No such file") != std::string::npos);
  const auto file = folder.write("file", "text").string();
  REQUIRE(refusal({file, file, true}).find(file + " is not a named pipe") != std::string::npos);
}

TEST_CASE("interleaved timing passes alternate sample by sample after each has warmed up") {
  const Pipes pipes;
  auto first = pipes.first();
  auto second = pipes.second();
  protocol::Request request;
  request.warmup = 2;
  request.iterations = request.iterations_min = 3;
  request.batch_below_ns = 0;
  Diary diary;
  int handovers = 0;
  {
    const std::jthread other([&] {
      second.acquire();
      FakeWorkload workload([&] { diary.note('B'); });
      time_iterations(workload, models::Device::cpu, request, std::move(second));
    });
    first.acquire();
    FakeWorkload workload([&] { diary.note('A'); });
    handovers = time_iterations(workload, models::Device::cpu, request, std::move(first)).handovers;
  }
  REQUIRE(diary.text() == "AAABBBABABAB");
  REQUIRE(handovers == 4);
}

TEST_CASE("a process with one thread is idle") {
  REQUIRE(wait_for_idle_threads(0ms));
}

TEST_CASE("a thread that waits actively is waited for, as long as is allowed") {
  test::ActiveThread active;
  REQUIRE_FALSE(wait_for_idle_threads(5ms));
  active.end();
  REQUIRE(wait_for_idle_threads(60s));
}

TEST_CASE("threads that sleep are idle") {
  std::latch end(1);
  const std::jthread first([&] { end.wait(); });
  const std::jthread second([&] { end.wait(); });
  const bool is_idle = wait_for_idle_threads(60s);
  end.count_down();
  REQUIRE(is_idle);
}
