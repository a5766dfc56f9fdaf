#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "torchwatch/github/api_client.hpp"
#include "torchwatch/github/outbox_sender.hpp"
#include "torchwatch/github/token_source.hpp"

namespace torchwatch::github {

/// One page of a list, and the address of the next one.
struct ListPage {
  nlohmann::json items = nlohmann::json::array();
  std::optional<WebAddress> next;
};

/// What there is at an address.
struct Found {
  int status = 0;         ///< 200; 304: as the ETag says; 404 and 410: nothing
  nlohmann::json body{};  ///< an object or a list; null without 200
  std::string etag{};
  std::optional<WebAddress> next{};  ///< of a list: its next page
};

/// Asks and changes what is below one repository: tokens, pages, pauses between writes and those
/// that GitHub asks for, failures.
/// A token that is refused is replaced once. Not thread-safe.
class GithubApi {
 public:
  /// `stop` ends a request that is being answered. Errors: invalid (repository or api cannot work).
  static Result<GithubApi> create(platform::HttpClient&, const platform::Clock&,
                                  const GithubSettings&, std::stop_token stop = {});

  const std::string& repository() const { return settings_->repository; }  ///< owner/name
  /// The address of `path` below the repository ("/issues?state=all").
  WebAddress address(const std::string& path) const;
  /// The address of `path` outside any repository ("/user").
  WebAddress root_address(const std::string& path) const;
  Delivered<ListPage> get_page(const WebAddress&) const;
  /// Looks whether there is anything, and whether it changed since `etag`, which may be empty.
  Delivered<Found> find(const WebAddress&, const std::string& etag = {}) const;
  /// Sends a GET of `path` below the repository and returns the JSON object of the answer.
  Delivered<nlohmann::json> read(const std::string& path) const;
  /// Who writes, so that what others wrote is not taken for ours.
  Delivered<Account> account() const;
  /// Sends a POST or PATCH and returns the JSON object of the answer.
  Delivered<nlohmann::json> write(const std::string& method, const std::string& path,
                                  const nlohmann::json& body) const;

 private:
  GithubApi(ApiClient, const platform::Clock&, const GithubSettings&, std::shared_ptr<TokenSource>,
            std::stop_token stop);
  /// Why nothing is asked now: GitHub wants to be left alone.
  std::optional<DeliveryFailure> paused() const;
  void note_pause(const Delivered<platform::HttpResponse>&) const;
  Delivered<platform::HttpResponse> exchange(ApiRequest) const;
  Delivered<platform::HttpResponse> get(const WebAddress&) const;
  Delivered<std::optional<WebAddress>> next_page(const platform::HttpResponse&,
                                                 const WebAddress& at) const;
  DeliveryFailure failure(const platform::HttpResponse&, const std::string& what) const;

  ApiClient client_;
  const platform::Clock* clock_;
  const GithubSettings* settings_;
  std::shared_ptr<TokenSource> tokens_;
  std::stop_token stop_;
};

}  // namespace torchwatch::github
