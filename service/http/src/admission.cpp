#include "admission.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace torchwatch::http {

Admission::Connection::Connection(Admission& admission, int socket, std::string address,
                                  std::optional<uid_t> user)
    : admission_(&admission), socket_(socket), address_(std::move(address)), user_(user) {
  admission_->enter(socket_, address_);
}

Admission::Connection::Connection(Connection&& other) noexcept
    : admission_(std::exchange(other.admission_, nullptr)),
      socket_(std::exchange(other.socket_, -1)),
      address_(std::move(other.address_)),
      user_(other.user_) {}

Admission::Connection::~Connection() {
  if (admission_ != nullptr) admission_->leave(socket_, address_);
}

bool Admission::has_place_for(const std::string& address) const {
  const std::scoped_lock lock(mutex_);
  if (is_shut_ || static_cast<int>(sockets_.size()) >= total_max_) return false;
  const auto found = per_address_.find(address);
  return found == per_address_.end() || found->second < per_address_max_;
}

void Admission::enter(int socket, const std::string& address) {
  const std::scoped_lock lock(mutex_);
  sockets_.insert(socket);
  ++per_address_[address];
  if (is_shut_) shutdown(socket, SHUT_RDWR);
}

void Admission::leave(int socket, const std::string& address) {
  const std::scoped_lock lock(mutex_);
  shutdown(socket, SHUT_RDWR);
  // Closed under the lock: the number must not come back before it is forgotten here.
  close(socket);
  sockets_.erase(socket);
  if (--per_address_[address] == 0) per_address_.erase(address);
}

void Admission::shut_all() {
  const std::scoped_lock lock(mutex_);
  is_shut_ = true;
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
}

}  // namespace torchwatch::http
