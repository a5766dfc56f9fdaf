#include "connection_workers.hpp"

#include <system_error>
#include <utility>

namespace torchwatch::http {
namespace {

constexpr std::chrono::milliseconds kStartAgainAfter{100};

}  // namespace

ConnectionWorkers::ConnectionWorkers(std::size_t threads, Serve serve, Spawn spawn)
    : wanted_(threads), serve_(std::move(serve)), spawn_(std::move(spawn)) {
  threads_.reserve(wanted_);
  start_missing();
}

ConnectionWorkers::~ConnectionWorkers() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ConnectionWorkers::start_missing() {
  try {
    while (threads_.size() < wanted_) threads_.push_back(spawn_([this] { work(); }));
  } catch (const std::system_error&) {
    start_again_at_ = Client::Clock::now() + kStartAgainAfter;
  }
}

bool ConnectionWorkers::add(std::unique_ptr<Client>& client) {
  if (missing() > 0 && Client::Clock::now() >= start_again_at_) start_missing();
  if (threads_.empty()) return false;
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(client));
  }
  wake_.notify_one();
  return true;
}

std::unique_ptr<Client> ConnectionWorkers::next() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
  if (is_ending_) return nullptr;
  auto client = std::move(waiting_.front());
  waiting_.pop_front();
  return client;
}

void ConnectionWorkers::work() {
  while (auto client = next()) serve_(std::move(client));
}

}  // namespace torchwatch::http
