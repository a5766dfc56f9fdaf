#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

namespace torchwatch::web {

/// Who may have a connection: so many in total, so many from one address. Thread-safe.
class Admission {
 public:
  Admission(int total_max, int per_address_max)
      : total_max_(total_max), per_address_max_(per_address_max) {}

  /// An open connection; closed, and its place given back, with the object.
  class Connection {
   public:
    Connection(Admission&, int socket, std::string address);
    Connection(Connection&&) noexcept;
    Connection& operator=(Connection&&) = delete;
    Connection(const Connection&) = delete;
    ~Connection();
    int socket() const { return socket_; }
    const std::string& address() const { return address_; }

   private:
    Admission* admission_;
    int socket_;
    std::string address_;
  };

  bool has_place_for(const std::string& address) const;
  /// Ends every connection's reading and writing, so that nobody waits for them any more; later
  /// ones find no place.
  void shut_all();

 private:
  void enter(int socket, const std::string& address);
  void leave(int socket, const std::string& address);

  const int total_max_;
  const int per_address_max_;
  mutable std::mutex mutex_;
  std::set<int> sockets_;
  std::map<std::string, int> per_address_;
  bool is_shut_ = false;
};

}  // namespace torchwatch::web
