#include "torchwatch/forms/actions.hpp"

#include <algorithm>

#include "action.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/html/quoting.hpp"
#include "torchwatch/paging/paging.hpp"
#include "torchwatch/storage/request_store.hpp"

namespace torchwatch::forms {
namespace {

using html::Fragment;

constexpr int kReasonMax = 4'000;

const Action* action_at(std::string_view path) {
  return std::ranges::find(kActions, path, &Action::path);
}

/// The scope that the API asks for.
std::optional<Scope> scope_of(const Action& action, const View& view) {
  const auto path =
      "/api/v1" + std::string(action.endpoint.empty() ? action.path : action.endpoint);
  const auto found = std::ranges::find_if(view.sources.api, [&](const auto& route) {
    return route.method == action.method && route.path == path;
  });
  return found == view.sources.api.end() ? std::nullopt : found->scope;
}

std::string address_of(const Action& action, const std::string& id, const View& view) {
  auto path = std::string(action.path.substr(1));
  const auto begin = path.find('{');
  if (begin != std::string::npos) {
    path.replace(begin, path.find('}') + 1 - begin, http::percent_encoded(id));
  }
  return view.root + path;
}

std::string value_in(const Typed& typed, const char* name) {
  const auto found = typed.find(name);
  return found == typed.end() ? "" : found->second;
}

/// A button of a form: what it does, to which item, and what stands on it.
struct Button {
  const Action* action = nullptr;
  std::string id = {};
  std::string text = {};
};

std::string reason_field(const std::vector<Button>& buttons, const std::string& typed) {
  std::string needed;
  for (const auto& [action, id, text] : buttons) {
    if (action->needs_reason) needed += (needed.empty() ? "" : ", ") + text;
  }
  const auto hint = needed.empty() ? std::string() : " (needed to: " + needed + ")";
  return "<p><label for=\"reason\">Reason" + html::escaped(hint) +
         "</label>\n<textarea id=\"reason\" name=\"reason\" rows=\"2\" maxlength=\"" +
         std::to_string(kReasonMax) + "\">\n" + html::escaped(typed) + "</textarea></p>\n";
}

/// Says what the reader's token lacks, and which command makes one that has it.
Fragment lacking_text(const Scopes& lacking, const std::vector<const Action*>& refused,
                      const View& view) {
  std::string what;
  for (const auto* action : refused) {
    what += (what.empty() ? "" : ", ") + std::string(action->button);
  }
  return only_html(html::paragraph(html::text(what + ": the token " + view.request.token_name +
                                              " lacks the scope " + to_string(lacking) +
                                              ". `torchwatch token create NAME --scopes " +
                                              to_string(lacking) + "` makes one that has it."))
                       .html);
}

Fragment sign_in_text(const View& view) {
  const auto here = view.request.path + view.query_with("", "");
  return only_html(
      html::paragraph(
          html::link(view.root + "sign-in?to=" + http::percent_encoded(here), "Sign in") +
          html::text(" with a token to decide here, or type the command."))
          .html);
}

/// What the reader may do, and what not.
struct Rights {
  std::vector<Button> allowed;
  std::vector<const Action*> refused;  ///< each once
  Scopes lacking;
};

Rights rights_to(const std::vector<Button>& buttons, const View& view) {
  Rights rights;
  for (const auto& button : buttons) {
    const auto scope = scope_of(*button.action, view);
    if (!scope) continue;
    if (view.request.signed_in->scopes.contains(*scope)) {
      rights.allowed.push_back(button);
      continue;
    }
    rights.lacking.insert(*scope);
    const auto known = std::ranges::find(rights.refused, button.action);
    if (known == rights.refused.end()) rights.refused.push_back(button.action);
  }
  return rights;
}

std::string form_text(const std::vector<Button>& buttons, const Typed& typed, const View& view) {
  const auto address = [&](const Button& of) {
    return html::escaped(address_of(*of.action, of.id, view));
  };
  auto form = "<form class=\"act\" method=\"post\" action=\"" + address(buttons.front()) + "\">\n" +
              key_field(view.request);
  for (const auto* hidden : {kMessage, kOnce}) {
    if (!typed.contains(hidden)) continue;
    form += "<input type=\"hidden\" name=\"" + std::string(hidden) + "\" value=\"" +
            html::escaped(value_in(typed, hidden)) + "\">\n";
  }
  if (std::ranges::any_of(buttons, [](const auto& each) { return each.action->takes_reason; })) {
    form += reason_field(buttons, value_in(typed, kReason));
  }
  form += "<p class=\"buttons\">\n";
  for (const auto& button : buttons) {
    form += "<button type=\"submit\" formaction=\"" + address(button) + "\">" +
            html::escaped(button.text) + "</button>\n";
  }
  return form + "</p>\n</form>\n";
}

/// The form of those buttons that the reader may press, and what is lacking for the others.
Fragment form_with(const std::vector<Button>& buttons, const Typed& typed, const View& view) {
  // What is printed without a daemon has nobody to ask.
  if (view.sources.api.empty() || buttons.empty()) return {};
  if (!view.request.signed_in) return sign_in_text(view);
  const auto rights = rights_to(buttons, view);
  Fragment content;
  if (!rights.allowed.empty()) content += only_html(form_text(rights.allowed, typed, view));
  if (!rights.refused.empty()) content += lacking_text(rights.lacking, rights.refused, view);
  return content;
}

/// The action that cancels an item of the queue.
const Action* cancelling(storage::ItemKind kind) {
  if (kind == storage::ItemKind::comparison) return action_at("/comparisons/{id}/cancel");
  if (kind == storage::ItemKind::bisection) return action_at("/bisections/{id}/cancel");
  return action_at("/requests/{id}/cancel");
}

Fragment offer(std::initializer_list<std::string_view> paths, storage::Id id, const View& view) {
  std::vector<const Action*> actions;
  for (const auto path : paths) actions.push_back(action_at(path));
  return form_of(actions, std::to_string(id), {}, view);
}

}  // namespace

std::string key_field(const http::Request& request) {
  const auto key = request.signed_in ? request.signed_in->form_key : "";
  return "<input type=\"hidden\" name=\"key\" value=\"" + html::escaped(key) + "\">\n";
}

Fragment form_of(const std::vector<const Action*>& actions, const std::string& id,
                 const Typed& typed, const View& view) {
  std::vector<Button> buttons;
  for (const auto* action : actions) {
    buttons.push_back({.action = action, .id = id, .text = std::string(action->button)});
  }
  return form_with(buttons, typed, view);
}

Fragment for_incident(const storage::IncidentRow& incident, bool names_culprit, const View& view) {
  const auto id = incident.id;
  if (incident.state == storage::IncidentState::closed) {
    return offer({"/incidents/{id}/reopen"}, id, view);
  }
  std::vector<const Action*> actions;
  if (incident.state == storage::IncidentState::open) {
    actions.push_back(action_at("/incidents/{id}/acknowledge"));
  }
  for (const auto* path : {"/incidents/{id}/accept", "/incidents/{id}/close"}) {
    actions.push_back(action_at(path));
  }
  if (names_culprit) actions.push_back(action_at("/incidents/{id}/dispute"));
  actions.push_back(action_at("/incidents/{id}/retest"));
  return form_of(actions, std::to_string(id), {}, view);
}

Result<Fragment> for_pair(const pages::Pair& pair, const View& view) {
  constexpr std::size_t kEnough = 16;
  const auto name = pair.baseline + "..." + pair.candidate;
  TW_TRY(const auto newest, storage::RequestStore(view.sources.database).list(1));
  // The same until something is asked for: whoever presses twice has asked once.
  const auto once = digest::sha256_hex(name).substr(0, kEnough) + "-" +
                    std::to_string(newest.empty() ? 0 : newest.front().id);
  return form_of({action_at("/compare/{pair}/queue")}, name, {{kOnce, once}}, view);
}

Fragment for_comparison(const storage::ComparisonRow& comparison, const View& view) {
  using storage::ComparisonState;
  if (comparison.ended_at == 0) return offer({"/comparisons/{id}/cancel"}, comparison.id, view);
  const bool can_be_retried = comparison.state == ComparisonState::refused ||
                              comparison.state == ComparisonState::failed ||
                              comparison.state == ComparisonState::cancelled;
  if (!can_be_retried) return {};
  return offer({"/comparisons/{id}/retry"}, comparison.id, view);
}

Fragment for_bisection(const storage::BisectionRow& bisection, const View& view) {
  if (bisection.state != storage::BisectionState::open) return {};
  return offer({"/bisections/{id}/cancel"}, bisection.id, view);
}

Fragment for_request(storage::Id id, bool has_ended, const View& view) {
  return has_ended ? Fragment() : offer({"/requests/{id}/cancel"}, id, view);
}

Fragment for_build(storage::Id id, const report::BuildFiles& files, const View& view) {
  if (!files.are_in_cache) return {};
  if (files.are_pinned) return offer({"/builds/{id}/unpin"}, id, view);
  return offer({"/builds/{id}/pin", "/builds/{id}/remove-files"}, id, view);
}

Fragment for_queue(const std::vector<QueuedItem>& items, const View& view) {
  std::vector<Button> buttons;
  for (const auto& [kind, id] : items) {
    buttons.push_back(
        {.action = cancelling(kind),
         .id = std::to_string(id),
         .text = "Cancel " + std::string(to_string(kind)) + " " + std::to_string(id)});
  }
  return form_with(buttons, {}, view);
}

Fragment for_mute(storage::Id id, const View& view) {
  return offer({"/mutes/{id}/lift"}, id, view);
}

Fragment for_messages(const std::vector<Message>& messages, const View& view) {
  const auto* retry = action_at("/outbox/retry");
  const auto& signed_in = view.request.signed_in;
  const auto scope = scope_of(*retry, view);
  const bool may_choose =
      !messages.empty() && scope && signed_in && signed_in->scopes.contains(*scope);
  if (!may_choose) return messages.empty() ? Fragment() : form_of({retry}, "", {}, view);
  std::string options;
  for (const auto& [key, name] : messages) {
    options +=
        "<option value=\"" + html::escaped(key) + "\">" + html::escaped(name) + "</option>\n";
  }
  return only_html("<form class=\"act\" method=\"post\" action=\"" +
                   html::escaped(address_of(*retry, "", view)) + "\">\n" + key_field(view.request) +
                   "<p><label for=\"message\">Message</label>\n<select id=\"message\" "
                   "name=\"message\">\n" +
                   options + "</select></p>\n<p class=\"buttons\">\n<button type=\"submit\">" +
                   html::escaped(retry->button) + "</button>\n</p>\n</form>\n");
}

}  // namespace torchwatch::forms
