#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "torchwatch/protocol/request.hpp"
#include "torchwatch/protocol/result.hpp"
#include "torchwatch/records/error.hpp"
#include "torchwatch/records/machine_class.hpp"
#include "torchwatch/records/words.hpp"

namespace torchwatch::executor {

/// An executable of somebody's own in the place of a kit's runner: it is started with its words,
/// then `measure REQUEST.json RESULT.json`, as a runner is, and finds the build in
/// TORCHWATCH_TREE, a folder of the name "torch" that has the build's lib/.
struct ExternalCommand {
  std::vector<std::string> words;               ///< the program's absolute path, its arguments
  std::vector<std::filesystem::path> readable;  ///< what it sees besides
};

/// One run to carry out: a runner kit, the libraries it loads, and the request.
struct RunSpec {
  protocol::Request request;        ///< request.attempt is the token that the result must repeat
  std::filesystem::path runner;     ///< the kit's executable
  std::filesystem::path libraries;  ///< the build's lib/: first in LD_LIBRARY_PATH
  bool fresh_copy = false;  ///< of the libraries, where the run takes place (PlacedLibraries)
  std::optional<ExternalCommand> command = {};  ///< in the place of `runner`
  /// What the class of the machine must agree with, where runs may come to several machines.
  Facts machine_class = {};
  std::string node = {};  ///< of a lane: runs there, once, or not at all; empty: anywhere
  /// Variables for this run alone, before those that are equal for all.
  std::map<std::string, std::string> environment = {};
};

/// How a run failed, where something else than its reason follows from it.
enum class FailureKind {
  other,       ///< all that its reason tells alone, such as a crash
  killed,      ///< by SIGKILL, which comes from outside: the kernel, short of memory, or a person
  exited,      ///< with another status than 0
  late,        ///< ran longer than its time limit
  flooded,     ///< printed more than it may
  unanswered,  ///< exited with 0 and left no result
  unbelieved   ///< left a result that is damaged or cannot be true
};

/// A run that took place and left no usable result: it crashed, hung, flooded, or lied.
struct RunFailure {
  std::string reason;  ///< "killed by signal 11 (SIGSEGV)", "result of another attempt", ...
  std::string output;  ///< the end of what it printed
  FailureKind kind = FailureKind::other;
};

using RunOutcome = std::variant<protocol::RunResult, RunFailure>;

/// Runs that are carried out one after the other on one machine: each alone, or two by two, which
/// needs an even number of them, as interleaved pairs.
struct RunBlock {
  std::vector<RunSpec> runs = {};
  bool is_in_pairs = false;
};

/// Carries out runs. A result counts only for the attempt that was issued. Thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Carries out one run and waits until it has ended. Errors: cancelled (by `stop`; the run is
  /// ended), invalid (an attempt id that cannot name a folder), unavailable (the run did not take
  /// place).
  virtual Result<RunOutcome> run(const RunSpec& spec, std::stop_token stop) = 0;
  /// Carries out two timing runs as an interleaved pair, the first of them beginning, and waits
  /// until both have ended. When one ends early, the other measures on without a partner. Sets the
  /// specs' `request.interleave`. Errors: those of `run`; then neither run counts.
  virtual Result<std::array<RunOutcome, 2>> run_pair(std::array<RunSpec, 2> specs,
                                                     std::stop_token stop) = 0;
  /// Carries out a block and waits until all of it has ended; outcomes come in the order of its
  /// runs. Errors: those of `run`; then none of its runs counts.
  virtual Result<std::vector<RunOutcome>> run_block(RunBlock block, std::stop_token stop);
  /// Returns the node of a cluster where the newest run took place; empty for this machine.
  virtual std::string node() { return {}; }
};

/// Several machines that are held for runs at the same time. Thread-safe; one thread a lane.
class Lanes {
 public:
  virtual ~Lanes() = default;
  virtual int count() const = 0;
  /// The configured class of that lane's machines, which are alike; empty where all lanes are of
  /// one. The lanes of a class have neighbouring numbers.
  virtual std::string machine_class(int /*number*/) const { return {}; }
  /// Where runs of that lane take place. A run whose spec names a node is carried out once: the
  /// errors of its executor are also unavailable (the run was lost with the node, and the lane has
  /// to be held anew) and conflict (the node is of another machine class, or another one).
  virtual Executor& lane(int number) = 0;
  /// Waits until the lane holds a node on which a run may take that long, and returns the node's
  /// name. Calls `waits` before it waits for one. Errors: cancelled, unavailable.
  virtual Result<std::string> hold(int number, std::chrono::seconds longest,
                                   const std::function<void()>& waits, std::stop_token stop) = 0;
  /// Gives the lane's node back.
  virtual void give_back(int number) = 0;
};

}  // namespace torchwatch::executor

namespace torchwatch {

template <>
struct Words<executor::FailureKind> {
  using enum executor::FailureKind;
  static constexpr std::string_view kKind = "kind of failure";
  static constexpr std::array kAll{Word{other, "other"},          Word{killed, "killed"},
                                   Word{exited, "exited"},        Word{late, "late"},
                                   Word{flooded, "flooded"},      Word{unanswered, "unanswered"},
                                   Word{unbelieved, "unbelieved"}};
};

}  // namespace torchwatch
