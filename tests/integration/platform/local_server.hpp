#pragma once

#include <httplib.h>

#include <string>
#include <thread>

namespace torchwatch::test {

/// The library's server on 127.0.0.1, port chosen by the kernel, for the life of the object.
class LocalServer {
 public:
  explicit LocalServer(httplib::Server& server)
      : server_(server),
        port_(server.bind_to_any_port("127.0.0.1")),
        thread_([&server] { server.listen_after_bind(); }) {
    while (!server_.is_running()) std::this_thread::yield();
  }
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;
  ~LocalServer() {
    server_.stop();
    thread_.join();
  }

  std::string url(const std::string& target, const std::string& scheme = "http") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_) + target;
  }

 private:
  httplib::Server& server_;
  int port_;
  std::thread thread_;
};

}  // namespace torchwatch::test
