#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "torchwatch/log/log.hpp"
#include "torchwatch/records/unique_fd.hpp"
#include "torchwatch/storage/event_store.hpp"

namespace torchwatch::events {

struct FeedLimits {
  int clients_max = 1'024;
  int clients_per_address_max = 64;
  std::chrono::milliseconds heartbeat{15'000};
  std::chrono::milliseconds stuck_max{30'000};  ///< how long a client may take nothing
  /// How long one follows; it comes again then, and says what it has. Whoever is forgotten by its
  /// own proxy keeps no place for ever.
  std::chrono::milliseconds stream_max{3'600'000};
};

/// A client that follows the events.
struct Follower {
  UniqueFd socket;
  std::string unsent;     ///< what must be sent to it first
  std::string address;    ///< that limits count by
  storage::Id after = 0;  ///< the last event that it has
  std::string token{};    ///< the name of the bearer token that it came with; empty: none
};

class Stream;

/// Sends events to all who follow them, from one thread. A client that is slow holds up nobody and
/// costs no more than another: it takes batches that all share, one at a time, and is let go where
/// it takes nothing for as long as the limits say. Thread-safe.
class Feed {
 public:
  /// Begins to listen to the database, which must outlive the feed. Errors: unavailable.
  static Result<std::unique_ptr<Feed>> start(storage::Database&, log::Logger = {}, FeedLimits = {});
  ~Feed();  ///< ends as `end` does
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// Returns whether one more client of that address may follow.
  bool has_place_for(const std::string& address) const;
  /// Takes a client over. One for which there is no place is closed.
  void add(Follower);
  /// Closes the clients that came with that token, which was revoked.
  void close_streams_of(const std::string& token);
  /// Closes every client, takes no further one, and joins. May be repeated.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  struct Batch;
  using Batches = std::map<storage::Id, Batch>;

  Feed(storage::Database&, log::Logger, FeedLimits);
  Status open();
  void run(const std::stop_token& stop);
  void work_a_round();
  void close_all();
  void close_revoked(const std::vector<std::string>& tokens);
  void wake() const;
  void take_in();
  void let_go(int socket);
  void send_events();
  bool bring_up_to_date(Stream&, const storage::KeptEvents&, Batches&);
  void give_signs_of_life(Clock::time_point now);
  Result<Batch> batch_after(storage::Id, const storage::KeptEvents&);

  storage::Database& database_;
  const log::Logger logger_;
  const FeedLimits limits_;
  UniqueFd epoll_;
  UniqueFd wake_;
  std::unordered_map<int, std::unique_ptr<Stream>> clients_;  ///< by socket; the thread's alone
  Clock::time_point next_sign_of_life_;
  mutable std::mutex mutex_;
  std::vector<Follower> arrived_;
  std::map<std::string, int> per_address_;
  int total_ = 0;
  bool closes_all_ = false;
  std::vector<std::string> revoked_;
  bool is_ending_ = false;
  std::atomic<bool> has_clients_ = false;
  storage::Listening listening_;
  std::jthread thread_;
};

/// Returns what a client gets first: how soon to come again, and the number to come again with.
std::string greeting(storage::Id after);

}  // namespace torchwatch::events
