#pragma once

#include <array>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "torchwatch/records/error.hpp"
#include "torchwatch/records/words.hpp"

namespace spdlog {
class logger;
}

namespace torchwatch::log {

/// From chatty to silent. A log writes records of its level and above; `off` writes none.
enum class Level { debug, info, warning, error, off };
enum class Format {
  text,  ///< 2026-08-17T03:04:05.678Z info http: request method=GET path=/ status=200
  json,  ///< one object per line: time, level, component, message, and the fields as members
};

/// Errors: invalid, naming the words that are allowed.
Result<Level> parse_level(std::string_view);
Result<Format> parse_format(std::string_view);

/// A named value beside a record's message. JSON writes numbers as numbers.
struct Field {
  Field(std::string_view field_name, std::string_view text) : name(field_name), value(text) {}
  Field(std::string_view field_name, const char* text) : name(field_name), value(text) {}
  template <typename Number>
    requires std::is_arithmetic_v<Number>
  Field(std::string_view field_name, Number number)
      : name(field_name), value(std::to_string(number)), is_number(true) {}

  std::string_view name;
  std::string value;
  bool is_number = false;
};

/// Writes a component's records. A default-constructed one writes nothing, so nobody needs a check.
/// Copies are cheap and write to the same log. Thread-safe.
///
/// Message and values may hold foreign text: control characters are escaped, so that one record is
/// one line. Headers and bodies of requests do not belong into a log.
class Logger {
 public:
  using Fields = std::initializer_list<Field>;

  Logger() = default;

  void debug(std::string_view message, Fields fields = {}) const {
    write(Level::debug, message, fields);
  }
  void info(std::string_view message, Fields fields = {}) const {
    write(Level::info, message, fields);
  }
  void warning(std::string_view message, Fields fields = {}) const {
    write(Level::warning, message, fields);
  }
  void error(std::string_view message, Fields fields = {}) const {
    write(Level::error, message, fields);
  }
  void write(Level, std::string_view message, Fields fields) const;

 private:
  friend class Log;
  explicit Logger(std::shared_ptr<spdlog::logger> series) : series_(std::move(series)) {}

  std::shared_ptr<spdlog::logger> series_;
};

struct LogSettings {
  Level level = Level::warning;
  Format format = Format::text;
};

/// Owns the one sink through which every record goes. The sink removes secrets: those given
/// to `hide`, and whatever looks like a credential (see `redact`). Its loggers keep the sink
/// alive. Thread-safe.
class Log {
 public:
  /// Writes whole lines to `out`, flushed one by one; `out` must outlive every logger.
  Log(LogSettings, std::ostream& out);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// A logger whose records carry the component's name ("http").
  Logger logger(const std::string& component) const;

  /// From now on the secret is replaced by "[redacted]" wherever it stands in a record.
  void hide(const std::string& secret);

 private:
  class Sink;
  std::shared_ptr<Sink> sink_;
  Level level_;
};

/// Replaces by "[redacted]" the given secrets and whatever looks like a credential, known or not:
/// an Authorization header, the value after Bearer, Basic, token or password, tokens with one of
/// GitHub's prefixes (ghp_, github_pat_, ...), a JSON web token, the user part of a URL, a private
/// key in PEM.
std::string redact(std::string_view text, std::span<const std::string> secrets = {});

}  // namespace torchwatch::log

namespace torchwatch {

template <>
struct Words<log::Level> {
  using enum log::Level;
  static constexpr std::string_view kKind = "log level";
  static constexpr std::array kAll{Word{debug, "debug"}, Word{info, "info"},
                                   Word{warning, "warning"}, Word{error, "error"},
                                   Word{off, "off"}};
};

template <>
struct Words<log::Format> {
  using enum log::Format;
  static constexpr std::string_view kKind = "log format";
  static constexpr std::array kAll{Word{text, "text"}, Word{json, "json"}};
};

}  // namespace torchwatch
