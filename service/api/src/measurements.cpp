#include "handlers.hpp"
#include "request_body.hpp"

namespace torchwatch::api {
namespace {

/// Whether a word names a pass that times nothing, which is what one build can be asked for.
Status check_pass(const std::string& word) {
  const auto pass = parse_pass(word);
  if (pass && (*pass == Pass::coverage || *pass == Pass::profile)) return {};
  return fail(ErrorCode::invalid, "invalid pass \"" + word + "\": must be coverage or profile");
}

}  // namespace

Result<Reply> ask_for_measurement(const Request& request, const Backend& backend) {
  TW_TRY(const nlohmann::json body, parse_object(request.body, {"candidate", "passes", "workloads",
                                                                "configurations", "variants"}));
  TW_TRY(const auto candidate, build_member(body, "candidate"));
  if (candidate.empty()) {
    return fail(ErrorCode::invalid, "missing build: candidate must be given");
  }
  TW_TRY(const auto passes, names_member(body, "passes"));
  if (passes.empty()) {
    return fail(ErrorCode::invalid, "missing passes: must be coverage, profile or both");
  }
  for (const auto& pass : passes) TW_TRY_VOID(check_pass(pass));
  TW_TRY_VOID(check_selection(body));
  return submit(request, backend, storage::RequestKind::nightly, body);
}

}  // namespace torchwatch::api
