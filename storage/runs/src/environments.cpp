#include "environments.hpp"

#include <array>

#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/records/machine_class.hpp"

namespace torchwatch::storage {
namespace {

/// Lengths in front, so that different maps have different texts whatever their characters.
void append_part(std::string& text, const std::string& part) {
  text += std::to_string(part.size()) + ":" + part;
}

std::optional<Id> find(Connection& connection, const std::string& digest) {
  Query query(connection, "SELECT id FROM environment WHERE digest = ?", digest);
  if (!query.next()) return std::nullopt;
  return query.take<Id>();
}

/// What describes the machine and its system. The other facts are about a build, a pass or the
/// settings of one process.
constexpr std::array kMachineFacts{
    "cpu_governor", "cpu_model", "cpus",       "glibc",  "gpu",   "gpu_clock_max_mhz",
    "gpu_driver",   "gpu_model", "huge_pages", "kernel", "memory"};

Facts machine_facts(const Facts& facts) {
  Facts of_machine;
  for (const auto* name : kMachineFacts) {
    const auto fact = facts.find(name);
    if (fact != facts.end()) of_machine.insert(*fact);
  }
  return of_machine;
}

/// Lines "name: value", in the order of their names.
std::string lines_of(const Facts& facts) {
  std::string text;
  for (const auto& [name, value] : facts) {
    text += (text.empty() ? "" : "\n") + name + ": " + value;
  }
  return text;
}

/// A class that was registered before runs stated their memory is the same one, with its history.
void state_memory(Connection& connection, const Facts& facts) {
  auto before = facts;
  if (before.erase("memory") == 0) return;
  execute(connection, "UPDATE OR IGNORE machine_class SET name = ?, facts = ? WHERE facts = ?",
          class_name(facts), lines_of(facts), lines_of(before));
}

/// Registers the class of a machine where it is new.
std::optional<Id> class_id(Connection& connection, const Facts& facts) {
  if (facts.empty()) return std::nullopt;
  state_memory(connection, facts);
  execute(connection,
          "INSERT INTO machine_class (name, facts) VALUES (?, ?) ON CONFLICT DO NOTHING",
          class_name(facts), lines_of(facts));
  Query query(connection, "SELECT id FROM machine_class WHERE facts = ?", lines_of(facts));
  return query.next() ? std::optional(query.take<Id>()) : std::nullopt;
}

std::optional<Id> machine_id(Connection& connection, const Facts& facts) {
  if (facts.empty()) return std::nullopt;
  execute(connection, "INSERT INTO machine (facts, class_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
          lines_of(facts), class_id(connection, class_facts(facts)));
  Query query(connection, "SELECT id FROM machine WHERE facts = ?", lines_of(facts));
  return query.next() ? std::optional(query.take<Id>()) : std::nullopt;
}

}  // namespace

std::string digest_of_facts(const std::map<std::string, std::string>& facts) {
  std::string text;
  for (const auto& [name, value] : facts) {
    append_part(text, name);
    append_part(text, value);
  }
  return digest::sha256_hex(text);
}

Id environment_id(Connection& connection, const std::map<std::string, std::string>& facts) {
  const auto digest = digest_of_facts(facts);
  if (const auto known = find(connection, digest)) return *known;
  execute(connection, "INSERT INTO environment (digest, machine_id) VALUES (?, ?)", digest,
          machine_id(connection, machine_facts(facts)));
  const Id id = last_id(connection);
  for (const auto& [name, value] : facts) {
    execute(connection,
            "INSERT INTO environment_fact (environment_id, name, value) VALUES (?, ?, ?)", id, name,
            value);
  }
  return id;
}

Result<std::map<std::string, std::string>> facts_of(Connection& connection,
                                                    const std::string& digest) {
  const auto id = find(connection, digest);
  if (!id) return fail(ErrorCode::not_found, "environment " + digest + " is not stored");
  std::map<std::string, std::string> facts;
  Query query(connection, "SELECT name, value FROM environment_fact WHERE environment_id = ?", *id);
  while (query.next()) {
    auto name = query.take<std::string>();
    facts.insert_or_assign(std::move(name), query.take<std::string>());
  }
  if (digest_of_facts(facts) == digest) return facts;
  return fail(ErrorCode::corrupt, "environment " + digest + " does not match its digest",
              "restore a backup");
}

void count_run(Connection& connection, Id environment, Id attempt) {
  execute(connection,
          "UPDATE machine SET runs = runs + 1, first_attempt_id = ifnull(first_attempt_id, ?1), "
          "last_attempt_id = max(ifnull(last_attempt_id, 0), ?1) "
          "WHERE id = (SELECT machine_id FROM environment WHERE id = ?2)",
          attempt, environment);
}

}  // namespace torchwatch::storage
