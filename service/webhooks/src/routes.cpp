#include "torchwatch/webhooks/routes.hpp"

#include <algorithm>

#include "delivery.hpp"
#include "torchwatch/http/problem.hpp"
#include "torchwatch/tracker/conversation_store.hpp"
#include "torchwatch/tracker/received_store.hpp"
#include "torchwatch/webhooks/signature.hpp"

namespace torchwatch::webhooks {
namespace {

using http::Reply;
using http::Request;

constexpr std::size_t kDeliveryBytesMax = 100;
constexpr std::size_t kEventBytesMax = 100;

bool is_word(const std::string& text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
}

Reply acknowledge(int status, const char* state) {
  return {.status = status,
          .content_type = "application/json",
          .body = nlohmann::json{{"state", state}}.dump() + "\n",
          .headers = {}};
}

/// Whether nobody here follows the issue: its changes need not be looked at.
Result<bool> is_foreign(const Intake& intake, const storage::ReceivedRow& row) {
  if (row.kind != storage::ReceivedKind::issue) return false;
  TW_TRY(
      const auto incident,
      storage::ConversationStore(intake.database).incident_of_issue(row.issue, intake.repository));
  return !incident.has_value();
}

Result<Reply> keep(const Intake& intake, storage::ReceivedRow row, const std::string& delivery) {
  TW_TRY(const bool foreign, is_foreign(intake, row));
  if (foreign) return acknowledge(200, "ignored");
  row.delivery = "webhook:" + delivery;
  row.received_at = intake.clock.wall_now();
  TW_TRY(const bool is_new, storage::ReceivedStore(intake.database).receive(row));
  if (!is_new) return acknowledge(200, "known");
  if (intake.arrived) intake.arrived();
  return acknowledge(202, "pending");
}

/// Our App may be installed elsewhere, too: its deliveries from there have the right signature.
Reply refuse_foreign(const Intake& intake, const std::string& key) {
  const int count = ++*intake.foreign;
  intake.logger.warning("webhook refused: of another " + key, {{"refused_so_far", count}});
  return http::problem(403, "this delivery is of another " + key + " than [github] " + key);
}

Result<Reply> take(const Intake& intake, const Request& request) {
  if (intake.secret.empty()) {
    return http::problem(404, "no webhook is taken", {},
                         "set [github] webhook_secret_file to the file with the webhook's secret");
  }
  const auto& head = request.webhook;
  if (!is_signed(intake.secret, request.body, head.signature)) {
    intake.logger.warning("webhook refused: wrong signature", {{"peer", request.remote_address}});
    return http::problem(401, "X-Hub-Signature-256 is not the signature of this body");
  }
  if (!is_word(head.event, kEventBytesMax) || !is_word(head.delivery, kDeliveryBytesMax)) {
    return http::problem(400, "X-GitHub-Event and X-GitHub-Delivery must each be given once");
  }
  TW_TRY(const auto payload, parse_payload(request.body));
  if (is_of_another(payload, intake.repository)) return refuse_foreign(intake, "repository");
  if (is_of_another_installation(payload, intake.installation)) {
    return refuse_foreign(intake, "installation");
  }
  TW_TRY(auto used, used_part(head.event, payload, intake.command_prefix));
  if (head.event == "ping") return acknowledge(200, "pong");
  if (!used) return acknowledge(200, "ignored");
  return keep(intake, *std::move(used), head.delivery);
}

}  // namespace

std::vector<http::Route> routes(Intake intake) {
  return {{.method = "POST",
           .path = "/api/v1/webhooks/github",
           .handler = [intake = std::move(intake)](const Request& request) {
             return take(intake, request);
           }}};
}

}  // namespace torchwatch::webhooks
