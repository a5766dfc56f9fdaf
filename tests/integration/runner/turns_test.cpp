#include "torchwatch/runner/turns.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <mutex>
#include <thread>

#include "active_thread.hpp"
#include "fake_workload.hpp"
#include "temporary_folder.hpp"
#include "torchwatch/runner/timing_pass.hpp"

using namespace torchwatch;
using namespace torchwatch::runner;

namespace {

/// Two pipes, and what either process is told of them.
struct Pipes {
  test::TemporaryFolder folder;
  std::string a = folder.path() / "a";
  std::string b = folder.path() / "b";

  Pipes() {
    REQUIRE(mkfifo(a.c_str(), 0600) == 0);
    REQUIRE(mkfifo(b.c_str(), 0600) == 0);
  }
  Turns first() const { return Turns::open({a, b, true}).value(); }
  Turns second() const { return Turns::open({b, a, false}).value(); }
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

void work(Turns turns, char who, int times, Diary& diary) {
  for (int i = 0; i < times; ++i) {
    turns.take();
    diary.note(who);
    turns.pass();
  }
  turns.finish();
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

std::string refusal(const protocol::Turns& turns) {
  const auto opened = Turns::open(turns);
  REQUIRE_FALSE(opened);
  REQUIRE(opened.error().code == ErrorCode::unavailable);
  return opened.error().message;
}

}  // namespace

TEST_CASE("two take turns, and neither leaves before the other has measured everything") {
  REQUIRE(diary_of(3, 3) == "ABABAB..");
  REQUIRE(diary_of(5, 2) == "ABABAAA..");
  REQUIRE(diary_of(1, 4) == "ABBBB..");
}

TEST_CASE("who has no partner never waits") {
  Turns alone;
  alone.take();
  alone.pass();
  alone.take();
  alone.finish();
  REQUIRE(alone.taken() == 0);
}

TEST_CASE("a partner that has ended is waited for no more") {
  const Pipes pipes;
  auto second = pipes.second();
  const auto first = pipes.first();  // keeps the pipes open
  std::ofstream(pipes.b) << protocol::Turns::kEnded << std::flush;
  second.take();
  second.pass();
  second.take();
  second.finish();
  REQUIRE(second.taken() == 0);
}

TEST_CASE("a turn that is handed over while a thread still runs is counted") {
  const Pipes pipes;
  auto first = pipes.first();
  const test::ActiveThread active;
  first.pass();
  REQUIRE(first.passed_restless() == 1);
}

TEST_CASE("a pipe that is missing, or none, is named") {
  const test::TemporaryFolder folder;
  const auto missing = (folder.path() / "missing").string();
  REQUIRE(refusal({missing, missing, true}).find(missing + ": No such file") != std::string::npos);
  const auto file = folder.write("file", "text").string();
  REQUIRE(refusal({file, file, true}).find(file + " is no named pipe") != std::string::npos);
}

TEST_CASE("timing passes that take turns alternate sample by sample after each has warmed up") {
  const Pipes pipes;
  auto first = pipes.first();
  auto second = pipes.second();
  protocol::Request request;
  request.warmup = 2;
  request.iterations = request.iterations_min = 3;
  request.batch_below_ns = 0;
  Diary diary;
  int turns_taken = 0;
  {
    const std::jthread other([&] {
      second.take();
      FakeWorkload workload([&] { diary.note('B'); });
      time_iterations(workload, models::Device::cpu, request, std::move(second));
    });
    first.take();
    FakeWorkload workload([&] { diary.note('A'); });
    turns_taken =
        time_iterations(workload, models::Device::cpu, request, std::move(first)).turns_taken;
  }
  REQUIRE(diary.text() == "AAABBBABABAB");
  REQUIRE(turns_taken == 4);
}
