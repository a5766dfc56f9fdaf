#include "raw_client.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>

RawClient::RawClient(int port, const char* from)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in source{};
  source.sin_family = AF_INET;
  REQUIRE(inet_pton(AF_INET, from, &source.sin_addr) == 1);
  REQUIRE(bind(socket_, reinterpret_cast<const sockaddr*>(&source), sizeof source) == 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}

RawClient::RawClient(const std::filesystem::path& path)
    : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.native().size() < sizeof address.sun_path);
  std::memcpy(static_cast<char*>(address.sun_path), path.c_str(), path.native().size());
  REQUIRE(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
}

RawClient::~RawClient() {
  close(socket_);
}

bool RawClient::send(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool RawClient::is_readable(int wait_ms) const {
  pollfd entry{socket_, POLLIN, 0};
  return poll(&entry, 1, wait_ms) > 0;
}

bool RawClient::receive() {
  if (!is_readable(10'000)) FAIL("the server neither answers nor closes");
  std::array<char, 4096> buffer{};
  const auto count = recv(socket_, buffer.data(), buffer.size(), 0);
  if (count <= 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::string RawClient::answer() {
  while (received_.find("\r\n\r\n") == std::string::npos) {
    if (!receive()) return received_;
  }
  const auto head_end = received_.find("\r\n\r\n") + 4;
  const auto at = received_.find("Content-Length: ");
  const auto length = at < head_end ? std::stoul(received_.substr(at + 16)) : 0;
  while (received_.size() < head_end + length && receive()) {
  }
  const auto size = std::min(received_.size(), head_end + length);
  const std::string whole = received_.substr(0, size);
  received_.erase(0, size);
  return whole;
}

std::string RawClient::until(const std::string& text) {
  while (received_.find(text) == std::string::npos && receive()) {
  }
  const auto at = received_.find(text);
  const auto size = at == std::string::npos ? received_.size() : at + text.size();
  auto taken = received_.substr(0, size);
  received_.erase(0, size);
  return taken;
}

std::string RawClient::rest() {
  while (receive()) {
  }
  return received_;
}

int status_of_answer(const std::string& answer) {
  return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9, 3)) : 0;
}
