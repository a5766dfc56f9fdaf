#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "torchwatch/records/unique_fd.hpp"

namespace torchwatch::http {

/// Limits the number of connections, in total and per address. Thread-safe.
class Admission {
 public:
  Admission(int total_max, int per_address_max)
      : total_max_(total_max), per_address_max_(per_address_max) {}

  /// An open connection; its destructor closes it and frees its place.
  class Connection {
   public:
    Connection(Admission&, int socket, std::string address);
    Connection(Connection&&) noexcept;
    Connection& operator=(Connection&&) = delete;
    Connection(const Connection&) = delete;
    ~Connection();
    int socket() const { return socket_; }
    UniqueFd release();  ///< frees its place and leaves it open

   private:
    Admission* admission_;
    int socket_;
    std::string address_;
  };

  enum class Place { free, address_full, all_full };
  /// Returns whether one more connection of that address may be opened. One that speaks for many,
  /// a proxy, has no limit of its own.
  Place place_for(const std::string& address, bool speaks_for_many) const;
  /// Shuts every connection down, so that nobody keeps waiting for one, and admits no further one.
  void shut_all();

 private:
  void enter(int socket, const std::string& address);
  void leave(int socket, const std::string& address);
  void forget(int socket, const std::string& address);

  const int total_max_;
  const int per_address_max_;
  mutable std::mutex mutex_;
  std::set<int> sockets_;
  std::map<std::string, int> per_address_;
  bool is_shut_ = false;
};

/// Those over the port and those over the Unix socket have places of their own: a flood at the port
/// keeps no command out.
struct Admissions {
  Admission over_port;
  Admission over_socket;
};

}  // namespace torchwatch::http
