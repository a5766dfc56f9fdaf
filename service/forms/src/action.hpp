#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "torchwatch/forms/actions.hpp"
#include "torchwatch/forms/forms.hpp"

namespace torchwatch::forms {

/// Something that a form does: an endpoint of the API, below /api/v1, does it.
struct Action {
  std::string_view path;    ///< that it is sent to: "/incidents/{id}/accept"
  std::string_view button;  ///< "Accept"
  std::string_view done;    ///< what the page says afterwards
  bool takes_reason = false;
  bool needs_reason = false;
  std::string_view endpoint = {};    ///< where it is not that of the same path
  std::string_view method = "POST";  ///< of the endpoint
};

inline constexpr std::array kActions{
    Action{"/incidents/{id}/acknowledge", "Acknowledge", "It is acknowledged.", true},
    Action{"/incidents/{id}/accept", "Accept", "It is accepted.", true, true},
    Action{"/incidents/{id}/close", "Close", "It is closed.", true},
    Action{"/incidents/{id}/reopen", "Reopen", "It is open again.", true},
    Action{"/incidents/{id}/dispute", "Dispute the commit",
           "The commit is disputed; it is searched again.", true, true},
    Action{"/incidents/{id}/retest", "Retest", "It is measured again."},
    Action{"/compare/{pair}/queue", "Queue the comparison", "It is asked for.", false, false,
           "/comparisons"},
    Action{"/comparisons/{id}/cancel", "Cancel the comparison", "It is cancelled."},
    Action{"/comparisons/{id}/retry", "Retry the comparison", "It is due again."},
    Action{"/bisections/{id}/cancel", "Cancel the bisection", "It is cancelled."},
    Action{"/requests/{id}/cancel", "Cancel the request", "It is cancelled."},
    Action{"/builds/{id}/pin", "Pin", "It is pinned: its files stay when the cache is full."},
    Action{"/builds/{id}/unpin", "Let it go", "It is not pinned any more."},
    Action{"/builds/{id}/remove-files", "Remove its files",
           "Its files are removed; they are fetched or made again when they are needed.", false,
           false, "/builds/{id}", "DELETE"},
    Action{"/mutes/{id}/lift", "Lift the mute", "It is lifted."},
    Action{"/outbox/retry", "Send again", "The message is due again."}};

/// What a person has typed or chosen, by the names of the fields.
using Typed = std::map<std::string, std::string>;

/// The fields beside the form key.
inline constexpr const char* kReason = "reason";
inline constexpr const char* kMessage = "message";
/// What a form is known by when it is sent twice, where each time asks for something new.
inline constexpr const char* kOnce = "once";

/// Makes the form of those actions of the item, as far as the reader may do them; `typed` is filled
/// in. Below it stands what is lacking for the others.
html::Fragment form_of(const std::vector<const Action*>&, const std::string& id, const Typed& typed,
                       const View&);

/// Returns an address of ours that a form leads back to, as seen from a page of the first level;
/// that of the overview for anything else.
std::string way_back(const std::string& to);

/// A fragment that only HTML has.
inline html::Fragment only_html(std::string text) {
  return {std::move(text), "", {}};
}

/// The hidden field with the form key of who is signed in.
std::string key_field(const http::Request&);

/// What the handlers share.
struct Shared {
  std::shared_ptr<const pages::Sources> sources;
  signin::SignIns& sign_ins;
  log::Logger logger;
};

/// Why a form is not from who it should be; nothing if it is. 401, 403.
struct Objection {
  int status = 0;
  std::string text;
};
std::optional<Objection> objection_to(const http::Request&, const signin::SignIns&);

Result<http::Reply> get_sign_in(const http::Request&, const Shared&);
Result<http::Reply> sign_in(const http::Request&, const Shared&);
Result<http::Reply> sign_out(const http::Request&, const Shared&);

}  // namespace torchwatch::forms
