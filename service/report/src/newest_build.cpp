#include "torchwatch/report/newest_build.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "torchwatch/storage/build_store.hpp"

namespace torchwatch::report {
namespace {

using storage::BuildOrigin;
using storage::BuildRow;

bool is_upstream(const BuildRow& build) {
  return build.origin == BuildOrigin::nightly || build.origin == BuildOrigin::release;
}

bool may_be_meant(const BuildRow& build) {
  const bool is_trusted = is_upstream(build) || build.origin == BuildOrigin::folder;
  std::error_code ignored;
  return is_trusted && build.is_measurable() &&
         std::filesystem::is_directory(std::filesystem::path(build.folder) / "lib", ignored);
}

}  // namespace

Result<std::optional<BuildRow>> newest_build(storage::Database& database) {
  TW_TRY(auto builds, storage::BuildStore(database).list());
  std::erase_if(builds, [](const BuildRow& build) { return !may_be_meant(build); });
  const auto newest = std::ranges::max_element(builds, {}, [](const BuildRow& build) {
    return std::tuple(is_upstream(build), build.place, build.id);
  });
  return newest == builds.end() ? std::nullopt : std::optional(*newest);
}

}  // namespace torchwatch::report
