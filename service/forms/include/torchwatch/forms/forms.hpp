#pragma once

#include <memory>
#include <vector>

#include "torchwatch/http/router.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/signin/sign_ins.hpp"
#include "torchwatch/site/sources.hpp"

namespace torchwatch::forms {

/// What forms need from the daemon. The sign-ins must outlive the routes.
struct Parts {
  pages::Sources sources;  ///< with the API, whose routes carry the forms out
  signin::SignIns& sign_ins;
  log::Logger logger = {};  ///< of what readers must not see of an error
};

/// The routes of `/sign-in`, `/sign-out` and of every action. Handlers are thread-safe.
std::vector<http::Route> routes(Parts);

}  // namespace torchwatch::forms
