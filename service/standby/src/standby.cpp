#include "torchwatch/standby/standby.hpp"

#include "torchwatch/site/view.hpp"

namespace torchwatch::standby {

std::unique_ptr<http::Server> answer(const config::Config& config, const platform::Clock& clock,
                                     const std::string& reason) {
  if (config.web.port == 0) return nullptr;
  http::ServerSettings settings;
  settings.address = config.web.address;
  settings.port = config.web.port;
  settings.hosts = config.web.hosts;
  settings.trusted_proxies = config.web.trusted_proxies;
  settings.requests_per_second = config.web.requests_per_second;
  settings.page_of = pages::problem_page;
  settings.closed = reason;
  settings.threads = 2;
  auto started = http::Server::start(std::move(settings), {}, clock);
  return started ? std::move(*started) : nullptr;
}

}  // namespace torchwatch::standby
