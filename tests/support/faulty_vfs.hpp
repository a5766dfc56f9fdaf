#pragma once

#include <cstdint>
#include <string>

namespace torchwatch::test {

/// What goes wrong under SQLite.
enum class Fault {
  none,
  kill,            ///< kill -9 before the operation
  torn_write,      ///< half of the write, then kill -9
  disk_full_once,  ///< SQLITE_FULL for one write
  disk_full,       ///< SQLITE_FULL for every write from there on
  io_error,        ///< SQLITE_IOERR for one operation
  power_cut,       ///< what was not synced may be lost; then kill -9
};

/// Which changes that were not synced a power cut leaves on the disk.
enum class Survivors { none, all, some };

/// A fault at one of the operations that change files (write, truncate, sync, delete), counted
/// from 1 over all files of the VFS. Written "power_cut:17:some:42".
struct FaultPlan {
  Fault fault = Fault::none;
  std::int64_t at = 0;
  Survivors survivors = Survivors::none;  ///< power_cut only
  std::uint64_t seed = 0;                 ///< for `some`: sectors of 512 bytes, by coin
};

std::string to_string(const FaultPlan&);
/// Throws std::invalid_argument naming what is allowed.
FaultPlan parse_fault_plan(const std::string&);
/// The plan in TORCHWATCH_FAULT; none when it is not set.
FaultPlan fault_plan_from_environment();

/// Registers a VFS over the default one and returns its name, for OpenOptions::vfs. Meant for a
/// child process (ForkedChild) that may die of it. Memory mapping is off and the device promises
/// nothing, so that SQLite assumes the worst.
std::string register_faulty_vfs(const FaultPlan&);

/// Operations of that VFS so far: with Fault::none, how many points there are to fail at.
std::int64_t operations_of(const std::string& vfs);

}  // namespace torchwatch::test
