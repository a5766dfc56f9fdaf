#include "environments.hpp"

#include "torchwatch/digest/sha256.hpp"

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
  execute(connection, "INSERT INTO environment (digest) VALUES (?)", digest);
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
  return fail(ErrorCode::corrupt,
              "environment " + digest + " does not match its digest; restore a backup");
}

}  // namespace torchwatch::storage
