#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "torchwatch/events/feed.hpp"

namespace torchwatch::events {

/// What clients take. Many take the same, so it is kept once.
using Text = std::shared_ptr<const std::string>;

/// The connection of a client that follows, and what it takes at present. Never waits for it.
class Stream {
 public:
  using Clock = std::chrono::steady_clock;

  /// Has an epoll say when the client has gone or says something, as data the socket's number.
  Stream(Follower, int epoll, std::chrono::milliseconds lasts);

  const std::string& address() const { return address_; }
  const std::string& token() const { return token_; }
  int socket() const { return socket_.get(); }

  /// The last event of what it was given.
  storage::Id after = 0;

  /// Has it take a text, after it has taken all before; returns whether it is still there.
  bool give(Text);
  /// Has it take as much as it does at once; returns whether it is still there. What is left is
  /// waited for by the epoll.
  bool send_rest();
  bool has_all() const { return sent_ == text_->size(); }
  /// Whether it has taken nothing of what it was given for as long.
  bool is_stuck(Clock::time_point now, std::chrono::milliseconds limit) const {
    return !has_all() && now - took_something_ >= limit;
  }
  bool is_over(Clock::time_point now) const { return now >= ends_at_; }

 private:
  UniqueFd socket_;
  const std::string address_;
  const std::string token_;
  const int epoll_;
  const Clock::time_point ends_at_;
  Text text_;
  std::size_t sent_ = 0;  ///< of the text
  Clock::time_point took_something_;
  bool waits_for_space_ = false;
};

}  // namespace torchwatch::events
