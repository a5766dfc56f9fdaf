#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchwatch/executor/executor.hpp"
#include "torchwatch/orders/copied_folder.hpp"
#include "torchwatch/process/process.hpp"

namespace torchwatch::orders {

/// How a node carries out runs: the service's own settings, so that runs there and here agree.
struct CarrySettings {
  std::filesystem::path scratch = "/tmp/torchwatch";  ///< on the node's own disk
  std::string machine_lock = "torchwatch";            ///< its name there
  int threads = 1;
  std::int64_t output_limit_bytes = std::int64_t{1} << 20;
  std::string sandbox = "auto";  ///< auto, bubblewrap, none
  std::vector<std::string> readable;
  std::vector<std::string> link_targets;
  std::vector<std::string> hidden;
  std::vector<std::string> hidden_with_copies;
  std::int64_t copies_limit_bytes = std::int64_t{40} << 30U;  ///< of builds and kits on the node
};

/// What a lane carries out at a time, and what counts together or not at all.
struct Order {
  std::string id;            ///< of this try: an answer names it
  executor::RunBlock block;  ///< of at least one run
  CarrySettings settings;
  std::vector<CopiedFolder> copies = {};  ///< that the runs load in place of the service's folders
};

/// Most runs of an order.
inline constexpr std::size_t kRunsMax = 16;
/// Largest order that is read, and largest answer: a block's results and their words.
inline constexpr std::size_t kOrderBytesMax = 1U << 20U;
inline constexpr std::size_t kAnswerBytesMax = 80U << 20U;

/// Writes an order as one line of JSON. With equal input it is always the same.
std::string to_json(const Order&);
/// Errors: corrupt, invalid; both name what is wrong.
Result<Order> parse_order(std::string_view json);

// The lines of an answer, each with its end.
std::string greeting_line(const Order&, const std::string& node);
std::string outcome_line(const std::string& attempt, const executor::RunOutcome&);
std::string ended_line(const Order&);
/// The order was not carried out, because of the node or of what it sees.
std::string refusal_line(const Order&, const std::string& reason);

/// Contents of an order's copies that a node lacks, by their hashes, and its folder for them.
struct Lack {
  std::filesystem::path folder;
  std::vector<std::string> hashes;
};
/// The order was not carried out, as something has to be sent to the node before.
std::string lack_line(const Order&, const Lack&);

/// Returns whether this line is the last one that answers the order.
bool ends_answer(const Order&, std::string_view line);

/// What was said to an order.
struct Answer {
  std::string node;
  std::string refusal;  ///< why the order was not carried out; empty: it does not say so
  std::vector<executor::RunOutcome> outcomes;  ///< in the order of the runs; empty unless whole
  Lack lack;                                   ///< only hashes that the order names
  std::string messages;                        ///< every other line: srun's own

  /// Whether the order has ended and every run of it has its outcome.
  bool is_whole() const { return !outcomes.empty(); }
};

/// Reads an answer that may be hostile: it is whole only if it ends with the order's own last line
/// and has exactly one outcome for each attempt. A result that cannot be believed is a run that
/// failed, as it is on this machine; nobody can have measured longer than the service `waited`.
Answer parse_answer(const Order&, std::string_view output, std::chrono::nanoseconds waited);

/// A program that runs on a node as it would on this machine, such as a build's recipe.
struct ProcessOrder {
  std::string id;               ///< of this try: its end names it
  process::ProcessSpec spec;    ///< apart from `input`, `on_started`, limits of memory, priorities
  bool uses_all_cores = false;  ///< TORCHWATCH_JOBS becomes the number of cores of the node's job
};

std::string to_json(const ProcessOrder&);
/// Errors: corrupt, invalid; both name what is wrong.
Result<ProcessOrder> parse_process_order(std::string_view json);

/// The last line of what a step of a process prints.
std::string process_ended_line(const ProcessOrder&, const process::ProcessOutcome&);
/// Reads how the process ended, with its output; nothing unless the step says it of this order.
std::optional<process::ProcessOutcome> parse_process_end(const ProcessOrder&,
                                                         std::string_view output);

}  // namespace torchwatch::orders
