#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include "torchwatch/storage/rows.hpp"

namespace torchwatch::signals {

class InterruptibleWork;

/// Stops the work on an item that a person cancelled, but not the service. Thread-safe.
class Interrupts {
 public:
  /// Has the children end that work for the item, if there are any; does not wait for them.
  void interrupt(const storage::ItemKey&);

 private:
  friend class InterruptibleWork;
  std::mutex mutex_;
  std::vector<InterruptibleWork*> at_work_;  ///< guarded by mutex_
};

/// Work on one item, as long as the object lives. Look at the item's row after the object is made:
/// what is cancelled from then on interrupts it.
class InterruptibleWork {
 public:
  /// `interrupts`: null where nobody can cancel. The service stops the work by `stop`.
  InterruptibleWork(Interrupts* interrupts, storage::ItemKey item, std::stop_token stop);
  ~InterruptibleWork();
  InterruptibleWork(const InterruptibleWork&) = delete;
  InterruptibleWork& operator=(const InterruptibleWork&) = delete;

  /// What stops the work, whoever wants it.
  std::stop_token stop() const { return end_.get_token(); }
  /// Whether the item was cancelled meanwhile.
  bool is_interrupted() const { return is_interrupted_; }

 private:
  friend class Interrupts;
  Interrupts* const interrupts_;
  const storage::ItemKey item_;
  std::stop_source end_;
  std::stop_callback<std::function<void()>> forward_;
  std::atomic<bool> is_interrupted_ = false;
};

/// Ends work between two runs, so that what the last one cost is not lost. Thread-safe.
class LastRun {
 public:
  explicit LastRun(std::stop_source stop) : stop_(std::move(stop)) {}

  /// Has the run that is under way be the last: the work is stopped as soon as it is stored.
  /// Returns false, and does nothing, where none is under way or this one is the last already.
  bool end_after_it();
  /// Whether no further run may begin.
  bool is_last();

 private:
  friend class RunUnderWay;
  std::mutex mutex_;
  std::stop_source stop_;
  int under_way_ = 0;     ///< guarded by mutex_
  bool is_last_ = false;  ///< likewise
};

/// A run, or a pair of interleaved runs, from before it begins until it is stored.
class RunUnderWay {
 public:
  /// `last`: null where nobody can ask for a last run.
  explicit RunUnderWay(LastRun* last);
  ~RunUnderWay();
  RunUnderWay(const RunUnderWay&) = delete;
  RunUnderWay& operator=(const RunUnderWay&) = delete;

 private:
  LastRun* const last_;
};

}  // namespace torchwatch::signals
