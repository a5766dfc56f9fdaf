#include "connection_workers.hpp"

#include <utility>

namespace torchwatch::http {

ConnectionWorkers::ConnectionWorkers(std::size_t threads_max, Serve serve)
    : threads_max_(threads_max), serve_(std::move(serve)) {}

ConnectionWorkers::~ConnectionWorkers() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ConnectionWorkers::add(Admission::Connection connection) {
  const std::scoped_lock lock(mutex_);
  waiting_.push_back(std::move(connection));
  if (idle_ < waiting_.size() && threads_.size() < threads_max_) {
    threads_.emplace_back([this] { work(); });
  }
  wake_.notify_one();
}

std::optional<Admission::Connection> ConnectionWorkers::next() {
  std::unique_lock lock(mutex_);
  ++idle_;
  wake_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
  --idle_;
  if (is_ending_) return std::nullopt;
  std::optional<Admission::Connection> connection(std::move(waiting_.front()));
  waiting_.pop_front();
  return connection;
}

void ConnectionWorkers::work() {
  while (auto connection = next()) serve_(*connection);
}

}  // namespace torchwatch::http
