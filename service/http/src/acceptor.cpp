#include "acceptor.hpp"

#include <fcntl.h>

#include <algorithm>

namespace torchwatch::http {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{30'000};

}  // namespace

Acceptor Acceptor::on_port(std::string address, int port) {
  Acceptor acceptor;
  acceptor.address_ = std::move(address);
  acceptor.port_ = port;
  return acceptor;
}

Acceptor Acceptor::on_socket(std::filesystem::path path) {
  Acceptor acceptor;
  acceptor.path_ = std::move(path);
  return acceptor;
}

Status Acceptor::open() {
  if (is_on_port()) {
    TW_TRY(tcp_, listen_on(address_, port_));
    port_ = port_of(tcp_.get());
    return {};
  }
  unix_.reset();
  TW_TRY(auto opened, platform::ListeningSocket::open(path_));
  unix_.emplace(std::move(opened));
  fcntl(unix_->get(), F_SETFL, O_NONBLOCK);
  return {};
}

int Acceptor::socket() const {
  if (is_on_port()) return tcp_.get();
  return unix_ ? unix_->get() : -1;
}

std::string Acceptor::name() const {
  return is_on_port() ? "port " + std::to_string(port_) : "socket " + path_.string();
}

void Acceptor::rest(AcceptError error, const std::string& reason, Clock::time_point now) {
  if (error == AcceptError::broken) {
    tcp_.reset();
    unix_.reset();
  }
  pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
  rests_until_ = now + pause_;
  problem_ = "no connection can be accepted on " + name() + ": " + reason;
}

void Acceptor::works() {
  pause_ = milliseconds{0};
  problem_.clear();
}

}  // namespace torchwatch::http
