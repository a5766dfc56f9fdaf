#pragma once

#include "torchwatch/builds/commit_builder.hpp"
#include "torchwatch/channel/actions_builds.hpp"
#include "torchwatch/config/config.hpp"
#include "torchwatch/kits/kit_store.hpp"
#include "torchwatch/log/log.hpp"
#include "torchwatch/packages/package_store.hpp"
#include "torchwatch/sandbox/sandbox.hpp"

namespace torchwatch::daemon {

// What is made in [build] cache, as the configuration has it.

kits::KitStore::Settings kit_settings(const config::Config&, const sandbox::Sandbox&);
builds::CommitBuilder::Settings commit_settings(const config::Config&, const sandbox::Sandbox&);
packages::PackageStore::Settings package_settings(const config::Config&, const sandbox::Sandbox&);
/// `log` hides the token from then on.
channel::ActionsSettings actions_settings(const config::Config&, const sandbox::Sandbox&,
                                          log::Log& log);

}  // namespace torchwatch::daemon
