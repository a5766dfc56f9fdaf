#include "comments.hpp"

#include <algorithm>
#include <array>

#include "carry_out.hpp"
#include "progress_of_commands.hpp"
#include "torchwatch/conversation/command.hpp"
#include "torchwatch/markdown/markdown.hpp"
#include "torchwatch/nightly/attend.hpp"
#include "torchwatch/records/suggestion.hpp"
#include "torchwatch/tracker/conversation_store.hpp"

namespace torchwatch::conversation {
namespace {

using Rights = config::Config::Commands;
using storage::CommandRow;
using storage::CommandState;

constexpr platform::WallMillis kDay = 86'400'000;
constexpr const char* kOutsider = "outsider";
constexpr const char* kMistake = "mistake";
constexpr std::size_t kErrorMax = 400;

/// A comment that is answered, and what answers it.
struct Answering {
  const Parts& parts;
  comparison::Services& services;
  const TrackerReader& reader;
  CommandRow row;
};

/// What nobody has reviewed is built only for who may write to the repository, whatever a setting
/// says (service/pulls).
const std::vector<std::string>& who_may_write() {
  static const std::vector<std::string> kRoles{"admin", "write"};
  return kRoles;
}

/// The roles that may give a command; help is for everybody.
const std::vector<std::string>& roles_for(CommandName name, const Rights& all) {
  static const std::vector<std::string> kNone;
  switch (name) {
    case CommandName::bisect:
      return all.bisect;
    case CommandName::retest:
      return all.retest;
    case CommandName::ack:
      return all.ack;
    case CommandName::unack:
      return all.unack;
    case CommandName::wrong:
      return all.wrong;
    case CommandName::mute:
      return all.mute;
    case CommandName::cancel:
      return all.cancel;
    case CommandName::compare:
      return who_may_write();
    case CommandName::help:
      break;
  }
  return kNone;
}

bool is_among(const std::vector<std::string>& list, const std::string& word) {
  return !word.empty() && std::ranges::find(list, word) != list.end();
}

/// Whether the author has one of the roles. Errors: of the reader.
Result<bool> has_role(const Answering& answering, const std::vector<std::string>& roles) {
  TW_TRY(const auto has, answering.reader.roles_of(answering.row.login));
  return std::ranges::any_of(has, [&](const auto& role) { return is_among(roles, role); });
}

/// Whether the author has one of the roles, or is allowed by number. Errors: of the reader.
Result<bool> may(const Answering& answering, const std::vector<std::string>& roles) {
  const auto& allowed = answering.parts.settings.rights.allow;
  if (is_among(allowed, std::to_string(answering.row.login_id))) return true;
  return has_role(answering, roles);
}

/// A mistake is explained to those who may give some command.
std::vector<std::string> roles_for_any(const Rights& all) {
  std::vector<std::string> roles;
  for (const auto* each :
       {&all.bisect, &all.retest, &all.ack, &all.unack, &all.wrong, &all.mute, &all.cancel}) {
    roles.insert(roles.end(), each->begin(), each->end());
  }
  return roles;
}

Result<bool> is_permitted(const Answering& answering, const Parsed& parsed) {
  const auto& commands = answering.parts.settings.rights;
  const auto* command = std::get_if<Command>(&parsed);
  if (command == nullptr) return may(answering, roles_for_any(commands));
  if (command->name == CommandName::help) return true;
  // A number in a list gives nobody the right to write to the repository.
  if (command->name == CommandName::compare) return has_role(answering, who_may_write());
  return may(answering, roles_for(command->name, commands));
}

/// Stores the command with its reply, if it has one.
Status keep(Answering& answering) {
  storage::ConversationStore store(answering.services.database);
  answering.row.asked_at = answering.services.clock.wall_now();
  TW_TRY_VOID(store.add_command(answering.row));
  if (answering.row.said.empty()) return {};
  return say(answering.services, answering.row);
}

Status keep_in_transaction(Answering& answering) {
  return answering.services.database.transact([&] { return keep(answering); });
}

/// A reaction is a courtesy: the answer does not depend on it.
void react(const Answering& answering, const char* content) {
  const auto reacted = answering.reader.react(answering.row.comment, content);
  if (reacted) return;
  answering.parts.logger.info("no reaction to a comment: " + reacted.error().text(),
                              {{"comment", answering.row.comment}});
}

/// One polite line, once for each issue: a crowd is not answered one by one.
Result<std::string> turn_away(Answering& answering) {
  storage::ConversationStore store(answering.services.database);
  TW_TRY(const auto commands, store.commands_of(answering.row.issue));
  const bool is_said = std::ranges::any_of(
      commands, [](const CommandRow& row) { return row.name == kOutsider && row.replies > 0; });
  answering.row.name = kOutsider;
  answering.row.state = CommandState::refused;
  answering.row.said =
      is_said ? ""
              : "Thank you. Commands here are for people with write access to this repository; a "
                "comment in words is read by them.";
  TW_TRY_VOID(keep_in_transaction(answering));
  return std::string("not permitted");
}

Result<std::string> explain(Answering& answering, const Mistake& mistake) {
  react(answering, "confused");
  answering.row.name = kMistake;
  answering.row.state = CommandState::refused;
  const auto help = answering.parts.settings.command_prefix + "bisect help";
  const auto form = mistake.form.empty() ? "" : report::code(mistake.form) + " is its form; ";
  answering.row.said = "Nothing was done: " + report::code(mistake.what, kErrorMax) + "\n\n" +
                       form + report::code(help) + " lists all.";
  TW_TRY_VOID(keep_in_transaction(answering));
  return "a mistake: " + mistake.what;
}

bool is_costly(CommandName name) {
  return name == CommandName::bisect || name == CommandName::retest || name == CommandName::wrong ||
         name == CommandName::compare;
}

/// Errors: conflict, when the author, or all together, asked for enough within a day.
Status require_budget(const Answering& answering, CommandName name) {
  if (!is_costly(name)) return {};
  const auto& limits = answering.parts.settings.rights;
  storage::ConversationStore store(answering.services.database);
  const auto since = answering.services.clock.wall_now() - kDay;
  TW_TRY(const int by_user, store.costly_since(since, answering.row.login_id));
  TW_TRY(const int by_all, store.costly_since(since, {}));
  if (by_user >= limits.per_user_per_day) {
    return fail(ErrorCode::conflict, "you asked for " + std::to_string(by_user) +
                                         " measurements within 24 hours, and no more are allowed");
  }
  if (by_all < limits.per_day) return {};
  return fail(ErrorCode::conflict, std::to_string(by_all) +
                                       " measurements were asked for within 24 hours, and no more "
                                       "are allowed");
}

Status carry_out_and_keep(Answering& answering, const Command& command) {
  return answering.services.database.transact([&]() -> Status {
    TW_TRY_VOID(require_budget(answering, command.name));
    TW_TRY_VOID(carry_out(answering.parts, answering.services, command, answering.row));
    if (answering.row.state == CommandState::waiting) {
      TW_TRY_VOID(bring_up_to_date(answering.services, answering.row));
    }
    return keep(answering);
  });
}

/// Whether an error is an answer to who asked, as it is over HTTP.
bool is_answer(ErrorCode code) {
  return code == ErrorCode::invalid || code == ErrorCode::not_found || code == ErrorCode::conflict;
}

Result<std::string> refuse(Answering& answering, const std::string& why) {
  answering.row.state = CommandState::refused;
  answering.row.said = "Nothing was done: " + report::code(why, kErrorMax);
  TW_TRY_VOID(keep_in_transaction(answering));
  return answering.row.name + ": refused";
}

/// Returns why a command cannot be given where it stands; empty: it can. Errors: of the reader.
Result<std::string> misplaced(const Answering& answering, const Command& command) {
  if (command.name != CommandName::compare) return std::string();
  TW_TRY(const auto issue, answering.reader.issue(answering.row.issue));
  if (!issue.is_pull)
    return std::string("this is not a pull request, so there is nothing to compare");
  const auto& config = answering.services.config;
  const auto compared = config::commits_repository(config);
  if (compared.empty() || lower(compared) == lower(config.github.repository)) return std::string();
  return "pull requests of " + compared + " are compared, not those of this repository";
}

Result<std::string> obey(Answering& answering, const Command& command) {
  react(answering, "eyes");
  answering.row.name = to_string(command.name);
  TW_TRY(const auto why, misplaced(answering, command));
  if (!why.empty()) return refuse(answering, why);
  const auto asked = answering.row;
  const auto done = carry_out_and_keep(answering, command);
  if (done) {
    if (answering.parts.work_arrived) answering.parts.work_arrived();
    return answering.row.name + ": done";
  }
  if (!is_answer(done.error().code)) return fail(done.error());
  answering.row = asked;
  return refuse(answering, done.error().text());
}

CommandRow row_of(const storage::ReceivedRow& received, const nlohmann::json& body) {
  CommandRow row;
  row.comment = number_of(body, "comment");
  row.issue = received.issue;
  row.login = text_of(body, "login");
  row.login_id = number_of(body, "login_id");
  return row;
}

}  // namespace

Result<std::string> answer_comment(const Parts& parts, comparison::Services& services,
                                   const TrackerReader& reader, const std::string& own_login,
                                   const storage::ReceivedRow& received) {
  const auto body = nlohmann::json::parse(received.body_json, nullptr, false);
  Answering answering{parts, services, reader, row_of(received, body)};
  auto& row = answering.row;
  if (row.comment <= 0 || row.login.empty()) {
    return fail(ErrorCode::invalid, "a comment without its id or its author");
  }
  if (row.login == own_login) return std::string("our own comment");
  const auto& repository = services.config.github.repository;
  const auto stands_in = text_of(body, "repository");
  const bool is_elsewhere = !stands_in.empty() && lower(stands_in) != lower(repository);
  if (is_elsewhere) return "a comment in " + stands_in;
  storage::ConversationStore store(services.database);
  TW_TRY(const auto known, store.find_command(row.comment));
  if (known) return std::string("answered already");
  auto parsed = parse_command(text_of(body, "text"), parts.settings.command_prefix);
  if (std::holds_alternative<std::monostate>(parsed)) return std::string("no command");
  TW_TRY(row.incident, store.incident_of_issue(row.issue, repository));
  TW_TRY(const bool permitted, is_permitted(answering, parsed));
  if (!permitted) return turn_away(answering);
  if (const auto* mistake = std::get_if<Mistake>(&parsed)) return explain(answering, *mistake);
  auto& command = std::get<Command>(parsed);
  command.written_at = platform::parse_iso_utc(text_of(body, "at")).value_or(0);
  return obey(answering, command);
}

}  // namespace torchwatch::conversation
