#include "faulty_vfs.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <list>
#include <mutex>

#include "power_cut.hpp"

namespace torchwatch::test {
namespace {

enum class Operation { write, truncate, sync, remove };

/// One registered VFS. SQLite keeps a pointer to `base`, so it lives as long as the process.
struct FaultyVfs {
  sqlite3_vfs base{};
  sqlite3_vfs* real = nullptr;
  std::string name;
  FaultPlan plan;
  std::mutex mutex;
  std::int64_t operations = 0;
  bool fired = false;
  PowerCut disk;
};

/// Our part of a file object; the real one's lies behind it in the same block.
struct FaultyFile {
  sqlite3_file base;
  FaultyVfs* vfs;
  std::string* path;  ///< empty for a temporary file; owned, freed by close
};

constexpr std::size_t kRealOffset =
    (sizeof(FaultyFile) + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);

FaultyVfs& faulty(sqlite3_vfs* vfs) {
  return *static_cast<FaultyVfs*>(vfs->pAppData);
}
sqlite3_vfs* real(sqlite3_vfs* vfs) {
  return faulty(vfs).real;
}
FaultyFile& faulty(sqlite3_file* file) {
  return *reinterpret_cast<FaultyFile*>(file);
}
sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kRealOffset);
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  std::abort();  // not reached
}

int io_error_of(Operation operation) {
  switch (operation) {
    case Operation::write:
      return SQLITE_IOERR_WRITE;
    case Operation::truncate:
      return SQLITE_IOERR_TRUNCATE;
    case Operation::sync:
      return SQLITE_IOERR_FSYNC;
    case Operation::remove:
      return SQLITE_IOERR_DELETE;
  }
  return SQLITE_IOERR;
}

/// Counts the operation and gives the error that it shall fail with, SQLITE_OK for none. A full
/// disk fails writes only. Does not return where the plan kills before the operation.
int count(FaultyVfs& vfs, Operation operation) {
  ++vfs.operations;
  const auto& plan = vfs.plan;
  const bool due = vfs.operations == plan.at;
  const bool full = vfs.operations >= plan.at && operation == Operation::write;
  switch (plan.fault) {
    case Fault::kill:
      if (due) die();
      return SQLITE_OK;
    case Fault::torn_write:
      if (due && operation != Operation::write) die();
      return SQLITE_OK;
    case Fault::disk_full_once:
      if (!full || vfs.fired) return SQLITE_OK;
      vfs.fired = true;
      return SQLITE_FULL;
    case Fault::disk_full:
      return full ? SQLITE_FULL : SQLITE_OK;
    case Fault::io_error:
      return due ? io_error_of(operation) : SQLITE_OK;
    case Fault::none:
    case Fault::power_cut:
      return SQLITE_OK;
  }
  return SQLITE_OK;
}

/// After the operation was noted as unsynced: a cut may keep it, in part or not at all.
void cut_if_due(FaultyVfs& vfs) {
  if (vfs.plan.fault != Fault::power_cut || vfs.operations != vfs.plan.at) return;
  vfs.disk.cut(vfs.plan.survivors, vfs.plan.seed);
  die();
}

bool is_modelled(const FaultyFile& file) {
  return file.vfs->plan.fault == Fault::power_cut && !file.path->empty();
}

int close_file(sqlite3_file* file) {
  delete faulty(file).path;
  return real(file)->pMethods->xClose(real(file));
}

int read_file(sqlite3_file* file, void* buffer, int size, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), buffer, size, offset);
}

int write_file(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  auto& self = faulty(file);
  const std::lock_guard lock(self.vfs->mutex);
  if (const int error = count(*self.vfs, Operation::write); error != SQLITE_OK) return error;
  if (self.vfs->plan.fault == Fault::torn_write && self.vfs->operations == self.vfs->plan.at) {
    real(file)->pMethods->xWrite(real(file), data, size / 2, offset);
    die();
  }
  if (is_modelled(self)) {
    self.vfs->disk.wrote(*self.path, offset,
                         {static_cast<const char*>(data), static_cast<std::size_t>(size)});
  }
  cut_if_due(*self.vfs);
  return real(file)->pMethods->xWrite(real(file), data, size, offset);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  auto& self = faulty(file);
  const std::lock_guard lock(self.vfs->mutex);
  if (const int error = count(*self.vfs, Operation::truncate); error != SQLITE_OK) return error;
  if (is_modelled(self)) self.vfs->disk.truncated(*self.path, size);
  cut_if_due(*self.vfs);
  return real(file)->pMethods->xTruncate(real(file), size);
}

int sync_file(sqlite3_file* file, int flags) {
  auto& self = faulty(file);
  const std::lock_guard lock(self.vfs->mutex);
  if (const int error = count(*self.vfs, Operation::sync); error != SQLITE_OK) return error;
  cut_if_due(*self.vfs);
  if (is_modelled(self)) self.vfs->disk.synced(*self.path);
  return real(file)->pMethods->xSync(real(file), flags);
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}
int unlock_file(sqlite3_file* file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}
int check_reserved_lock(sqlite3_file* file, int* held) {
  return real(file)->pMethods->xCheckReservedLock(real(file), held);
}
int control_file(sqlite3_file* file, int operation, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
int sector_size(sqlite3_file* file) {
  return real(file)->pMethods->xSectorSize(real(file));
}
int no_characteristics(sqlite3_file*) {
  return 0;
}
int map_shared(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void shared_barrier(sqlite3_file* file) {
  real(file)->pMethods->xShmBarrier(real(file));
}
int unmap_shared(sqlite3_file* file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

/// Version 2: shared memory, but no xFetch, so no memory mapping goes past us.
const sqlite3_io_methods kMethods{2,
                                  close_file,
                                  read_file,
                                  write_file,
                                  truncate_file,
                                  sync_file,
                                  file_size,
                                  lock_file,
                                  unlock_file,
                                  check_reserved_lock,
                                  control_file,
                                  sector_size,
                                  no_characteristics,
                                  map_shared,
                                  lock_shared,
                                  shared_barrier,
                                  unmap_shared,
                                  nullptr,
                                  nullptr};

int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  auto& self = faulty(file);
  self.base.pMethods = nullptr;
  const bool existed = path != nullptr && ::access(path, F_OK) == 0;
  const int code = real(vfs)->xOpen(real(vfs), path, real(file), flags, out_flags);
  if (code != SQLITE_OK) {
    if (real(file)->pMethods != nullptr) real(file)->pMethods->xClose(real(file));
    return code;
  }
  self.vfs = &faulty(vfs);
  self.path = new std::string(path == nullptr ? "" : path);
  self.base.pMethods = &kMethods;
  const std::lock_guard lock(self.vfs->mutex);
  if (is_modelled(self)) self.vfs->disk.opened(*self.path, existed);
  return SQLITE_OK;
}

int remove_file(sqlite3_vfs* vfs, const char* path, int sync_folder) {
  auto& self = faulty(vfs);
  const std::lock_guard lock(self.mutex);
  if (const int error = count(self, Operation::remove); error != SQLITE_OK) return error;
  if (self.plan.fault == Fault::power_cut) {
    cut_if_due(self);
    self.disk.removed(path, sync_folder != 0);
  }
  return self.real->xDelete(self.real, path, sync_folder);
}

int access_file(sqlite3_vfs* vfs, const char* path, int flags, int* result) {
  return real(vfs)->xAccess(real(vfs), path, flags, result);
}
int full_path(sqlite3_vfs* vfs, const char* path, int size, char* out) {
  return real(vfs)->xFullPathname(real(vfs), path, size, out);
}
int randomness(sqlite3_vfs* vfs, int size, char* out) {
  return real(vfs)->xRandomness(real(vfs), size, out);
}
int sleep_for(sqlite3_vfs* vfs, int microseconds) {
  return real(vfs)->xSleep(real(vfs), microseconds);
}
int current_time(sqlite3_vfs* vfs, double* days) {
  return real(vfs)->xCurrentTime(real(vfs), days);
}
int last_error(sqlite3_vfs* vfs, int size, char* out) {
  return real(vfs)->xGetLastError(real(vfs), size, out);
}
int current_time_ms(sqlite3_vfs* vfs, sqlite3_int64* milliseconds) {
  return real(vfs)->xCurrentTimeInt64(real(vfs), milliseconds);
}

void fill(FaultyVfs& vfs) {
  vfs.real = sqlite3_vfs_find(nullptr);
  vfs.base.iVersion = 2;
  vfs.base.szOsFile = static_cast<int>(kRealOffset) + vfs.real->szOsFile;
  vfs.base.mxPathname = vfs.real->mxPathname;
  vfs.base.zName = vfs.name.c_str();
  vfs.base.pAppData = &vfs;
  vfs.base.xOpen = open_file;
  vfs.base.xDelete = remove_file;
  vfs.base.xAccess = access_file;
  vfs.base.xFullPathname = full_path;
  vfs.base.xRandomness = randomness;
  vfs.base.xSleep = sleep_for;
  vfs.base.xCurrentTime = current_time;
  vfs.base.xGetLastError = last_error;
  vfs.base.xCurrentTimeInt64 = current_time_ms;
}

std::list<FaultyVfs>& registered() {
  static std::list<FaultyVfs> all;
  return all;
}

}  // namespace

std::string register_faulty_vfs(const FaultPlan& plan) {
  auto& vfs = registered().emplace_back();
  vfs.name = "torchwatch-faulty-" + std::to_string(registered().size());
  vfs.plan = plan;
  fill(vfs);
  sqlite3_vfs_register(&vfs.base, 0);
  return vfs.name;
}

std::int64_t operations_of(const std::string& name) {
  for (auto& vfs : registered()) {
    if (vfs.name != name) continue;
    const std::lock_guard lock(vfs.mutex);
    return vfs.operations;
  }
  return 0;
}

}  // namespace torchwatch::test
