#include <array>

#include "torchwatch/doors/failpoint.hpp"

namespace torchwatch::doors {
namespace {

// One line for each effect outside the database. A name is part of its stage's definition: the
// kill tests reach every one of them.
constexpr std::array<std::string_view, 14> kNames{
    "publish.before_file_rename",
    "publish.before_folder_rename",
    "builds.after_build_published",
    "builds.after_kit_published",
    "channel.after_fetch_published",
    "executor.after_spawn",
    "executor.before_result_read",
    "nightly.after_run_stored",
    "nightly.after_verdict",
    "nightly.after_bisection_event",
    "nightly.after_report",
    "outbox.before_post",
    "outbox.after_post",
    "outbox.after_sent",
};

}  // namespace

std::span<const std::string_view> failpoint_names() {
  return kNames;
}

}  // namespace torchwatch::doors
