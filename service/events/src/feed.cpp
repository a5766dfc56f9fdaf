#include "torchwatch/events/feed.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "stream.hpp"
#include "texts.hpp"

namespace torchwatch::events {
namespace {

using std::chrono::milliseconds;

constexpr int kEventsAtOnce = 256;

Text shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

struct Feed::Batch {
  Text text;
  storage::Id last = 0;
};

Result<std::unique_ptr<Feed>> Feed::start(storage::Database& database, log::Logger logger,
                                          FeedLimits limits) {
  std::unique_ptr<Feed> feed(new Feed(database, std::move(logger), limits));
  TW_TRY_VOID(feed->open());
  return feed;
}

Feed::Feed(storage::Database& database, log::Logger logger, FeedLimits limits)
    : database_(database), logger_(std::move(logger)), limits_(limits) {}

Feed::~Feed() {
  end();
}

Status Feed::open() {
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  wake_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_.is_open() || !wake_.is_open()) {
    return fail(ErrorCode::unavailable, std::string("cannot send events: ") + std::strerror(errno));
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_.get();
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
  next_sign_of_life_ = Clock::now() + limits_.heartbeat;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::unavailable, std::string("no thread to send events: ") + error.what());
  }
  listening_ = database_.on_commit([this] {
    if (has_clients_) wake();
  });
  return {};
}

void Feed::end() {
  if (!thread_.joinable()) return;
  listening_.reset();
  thread_.request_stop();
  wake();
  thread_.join();
  const std::scoped_lock lock(mutex_);
  is_ending_ = true;
  arrived_.clear();
}

bool Feed::has_place_for(const std::string& address) const {
  const std::scoped_lock lock(mutex_);
  const auto found = per_address_.find(address);
  return !is_ending_ && total_ < limits_.clients_max &&
         (found == per_address_.end() || found->second < limits_.clients_per_address_max);
}

void Feed::add(Follower follower) {
  if (!has_place_for(follower.address)) return;
  {
    const std::scoped_lock lock(mutex_);
    ++total_;
    ++per_address_[follower.address];
    arrived_.push_back(std::move(follower));
  }
  wake();
}

void Feed::close_streams_of(const std::string& token) {
  {
    const std::scoped_lock lock(mutex_);
    revoked_.push_back(token);
  }
  wake();
}

/// The clients come again, and say what they have.
void Feed::close_all() {
  {
    const std::scoped_lock lock(mutex_);
    closes_all_ = true;
  }
  wake();
}

void Feed::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);
}

void Feed::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      work_a_round();
    } catch (const std::exception& exception) {
      // Out of memory.
      logger_.error(std::string("all who follow events were closed: ") + exception.what());
      close_all();
    }
  }
  clients_.clear();
}

void Feed::work_a_round() {
  const auto left = std::chrono::ceil<milliseconds>(next_sign_of_life_ - Clock::now());
  std::array<epoll_event, 64> events{};
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                               static_cast<int>(std::max(left, milliseconds{0}).count()));
  for (int i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_.get()) {
      std::uint64_t wakes = 0;
      [[maybe_unused]] const auto got = read(wake_.get(), &wakes, sizeof wakes);
    } else if ((event.events & ~static_cast<unsigned>(EPOLLOUT)) != 0) {
      let_go(event.data.fd);  // it has gone, or says something: nothing can be said here
    } else if (!clients_.at(event.data.fd)->send_rest()) {
      let_go(event.data.fd);
    }
  }
  take_in();
  send_events();
  if (const auto now = Clock::now(); now >= next_sign_of_life_) give_signs_of_life(now);
}

void Feed::take_in() {
  std::vector<Follower> arrived;
  std::vector<std::string> revoked;
  bool closes_all = false;
  {
    const std::scoped_lock lock(mutex_);
    arrived.swap(arrived_);
    revoked.swap(revoked_);
    closes_all = std::exchange(closes_all_, false);
  }
  while (closes_all && !clients_.empty()) let_go(clients_.begin()->first);
  for (auto& follower : arrived) {
    const int socket = follower.socket.get();
    const auto added = clients_.emplace(
        socket, std::make_unique<Stream>(std::move(follower), epoll_.get(), limits_.stream_max));
    if (!added.first->second->send_rest()) let_go(socket);
  }
  // Who arrived before the token was revoked is among them by now.
  close_revoked(revoked);
  has_clients_ = !clients_.empty();
}

void Feed::close_revoked(const std::vector<std::string>& tokens) {
  std::vector<int> closed;
  for (const auto& [socket, client] : clients_) {
    if (std::ranges::find(tokens, client->token()) != tokens.end()) closed.push_back(socket);
  }
  for (const int socket : closed) let_go(socket);
}

void Feed::let_go(int socket) {
  const auto found = clients_.find(socket);
  if (found == clients_.end()) return;
  {
    const std::scoped_lock lock(mutex_);
    --total_;
    const auto counted = per_address_.find(found->second->address());
    if (--counted->second == 0) per_address_.erase(counted);
  }
  shutdown(socket, SHUT_RDWR);
  clients_.erase(found);
  has_clients_ = !clients_.empty();
}

void Feed::send_events() {
  if (clients_.empty()) return;
  const auto kept = storage::EventStore(database_).kept();
  if (!kept)
    return;  // the daemon says what is wrong with its database; the next commit wakes again
  Batches batches;
  std::vector<int> gone;
  for (auto& [socket, client] : clients_) {
    if (!bring_up_to_date(*client, *kept, batches)) gone.push_back(socket);
  }
  for (const int socket : gone) let_go(socket);
}

/// Gives the client what it has not got, until it takes no more. Many are at the same place, so a
/// batch is read once. Returns whether the client is still there.
bool Feed::bring_up_to_date(Stream& client, const storage::KeptEvents& kept, Batches& batches) {
  while (client.has_all() && client.after != kept.newest) {
    auto found = batches.find(client.after);
    if (found == batches.end()) {
      auto batch = batch_after(client.after, kept);
      if (!batch) return true;
      found = batches.emplace(client.after, std::move(*batch)).first;
    }
    const auto& [text, last] = found->second;
    if (text->empty()) return true;
    client.after = last;
    if (!client.give(text)) return false;
  }
  return true;
}

Result<Feed::Batch> Feed::batch_after(storage::Id event, const storage::KeptEvents& kept) {
  // Numbers beyond the newest are of a database that was restored since.
  const bool misses_some = event + 1 < kept.oldest || event > kept.newest;
  if (misses_some) return Batch{.text = shared(reset_text(kept.newest)), .last = kept.newest};
  TW_TRY(const auto rows, storage::EventStore(database_).after(event, kEventsAtOnce));
  std::string text;
  auto last = event;
  for (const auto& row : rows) {
    if (row.id > kept.newest) break;  // stored since: beyond what this round knows of
    text += text_of(row);
    last = row.id;
  }
  return Batch{.text = shared(std::move(text)), .last = last};
}

void Feed::give_signs_of_life(Clock::time_point now) {
  next_sign_of_life_ = now + limits_.heartbeat;
  const auto sign_of_life = shared(":\n\n");
  std::vector<int> gone;
  for (auto& [socket, client] : clients_) {
    const bool is_wanted = !client->is_over(now) && !client->is_stuck(now, limits_.stuck_max);
    const bool is_there = client->has_all() ? client->give(sign_of_life) : client->send_rest();
    if (!is_wanted || !is_there) gone.push_back(socket);
  }
  for (const int socket : gone) let_go(socket);
}

}  // namespace torchwatch::events
