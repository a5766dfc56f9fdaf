#include "admission.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace torchwatch::http {

Admission::Connection::Connection(Admission& admission, int socket, std::string address)
    : admission_(&admission), socket_(socket), address_(std::move(address)) {
  admission_->enter(socket_, address_);
}

Admission::Connection::Connection(Connection&& other) noexcept
    : admission_(std::exchange(other.admission_, nullptr)),
      socket_(std::exchange(other.socket_, -1)),
      address_(std::move(other.address_)) {}

Admission::Connection::~Connection() {
  if (admission_ != nullptr) admission_->leave(socket_, address_);
}

UniqueFd Admission::Connection::release() {
  const std::scoped_lock lock(admission_->mutex_);
  std::exchange(admission_, nullptr)->forget(socket_, address_);
  return UniqueFd(std::exchange(socket_, -1));
}

Admission::Place Admission::place_for(const std::string& address, bool speaks_for_many) const {
  const std::scoped_lock lock(mutex_);
  const auto found = per_address_.find(address);
  const int open = found == per_address_.end() ? 0 : found->second;
  if (!speaks_for_many && open >= per_address_max_) return Place::address_full;
  return static_cast<int>(sockets_.size()) < total_max_ ? Place::free : Place::all_full;
}

void Admission::enter(int socket, const std::string& address) {
  const std::scoped_lock lock(mutex_);
  sockets_.insert(socket);
  ++per_address_[address];
  if (is_shut_) shutdown(socket, SHUT_RD);
}

void Admission::leave(int socket, const std::string& address) {
  const std::scoped_lock lock(mutex_);
  // Closed under the lock: the number must not come back before it is forgotten here.
  close(socket);
  forget(socket, address);
}

void Admission::forget(int socket, const std::string& address) {
  sockets_.erase(socket);
  if (--per_address_[address] == 0) per_address_.erase(address);
}

void Admission::shut_all() {
  const std::scoped_lock lock(mutex_);
  is_shut_ = true;
  for (const int socket : sockets_) shutdown(socket, SHUT_RD);
}

}  // namespace torchwatch::http
