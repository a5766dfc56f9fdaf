#include "stream.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace torchwatch::events {
namespace {

void watch(int epoll, int operation, int socket, bool waits_for_space) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | (waits_for_space ? EPOLLOUT : 0U);
  event.data.fd = socket;
  epoll_ctl(epoll, operation, socket, &event);
}

}  // namespace

Stream::Stream(Follower follower, int epoll, std::chrono::milliseconds lasts)
    : after(follower.after),
      socket_(std::move(follower.socket)),
      address_(std::move(follower.address)),
      token_(std::move(follower.token)),
      epoll_(epoll),
      ends_at_(Clock::now() + lasts),
      text_(std::make_shared<const std::string>(std::move(follower.unsent))),
      took_something_(Clock::now()) {
  watch(epoll_, EPOLL_CTL_ADD, socket_.get(), false);
}

bool Stream::give(Text text) {
  text_ = std::move(text);
  sent_ = 0;
  took_something_ = Clock::now();
  return send_rest();
}

bool Stream::send_rest() {
  while (!has_all()) {
    const auto rest = std::string_view(*text_).substr(sent_);
    const ssize_t sent = send(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent < 0) break;
    sent_ += static_cast<std::size_t>(sent);
    took_something_ = Clock::now();
  }
  if (waits_for_space_ == !has_all()) return true;
  waits_for_space_ = !has_all();
  watch(epoll_, EPOLL_CTL_MOD, socket_.get(), waits_for_space_);
  return true;
}

}  // namespace torchwatch::events
