#include "refusals.hpp"

#include "torchwatch/outbox/outbox_waits.hpp"

namespace torchwatch::github {
namespace {

constexpr int kFound = 200;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;

}  // namespace

DeliveryFailure refused(DeliveryFailure failure, const std::string& repository,
                        const std::string& right) {
  if (!failure.is_refusal || !failure.is_for_all) return failure;
  failure.is_for_all = false;
  if (failure.status != kForbidden && failure.status != kNotFound) return failure;
  failure.sentence = std::string(storage::kWaitsAlone) + "the token may not do this in " +
                     repository +
                     ", or the commit or pull request is not there: it needs the permission " +
                     right + " (" + std::to_string(failure.status) + ")";
  return failure;
}

DeliveryFailure missing_issue(DeliveryFailure failure, const GithubApi& api) {
  const bool is_missing = failure.is_refusal && failure.is_for_all && failure.status == kNotFound;
  if (!is_missing) return failure;
  const auto seen = api.find(api.address(""));
  if (!seen || seen->status != kFound) return failure;
  failure.is_for_all = false;
  failure.sentence = "there is no such issue or pull request in " + api.repository() + " (404)";
  return failure;
}

bool waits_alone(const DeliveryFailure& failure) {
  return !failure.is_for_all && failure.sentence.starts_with(storage::kWaitsAlone);
}

}  // namespace torchwatch::github
