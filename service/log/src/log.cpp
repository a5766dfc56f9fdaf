#include "torchwatch/log/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "torchwatch/records/hex.hpp"

namespace torchwatch::log {
namespace {

/// As parse_word, said as the command line says it.
template <typename Enum>
Result<Enum> parse(std::string_view text) {
  std::string allowed;
  for (const auto& word : Words<Enum>::kAll) {
    if (word.spelling == text) return word.value;
    allowed.append(allowed.empty() ? "" : ", ").append(word.spelling);
  }
  return fail(ErrorCode::invalid, "invalid " + std::string(Words<Enum>::kKind) + " \"" +
                                      std::string(text) + "\": must be one of " + allowed);
}

spdlog::level::level_enum level_of(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      break;
  }
  return spdlog::level::off;
}

std::string_view word_of(spdlog::level::level_enum level) {
  for (const auto& word : Words<Level>::kAll) {
    if (level_of(word.value) == level) return word.spelling;
  }
  return "error";
}

/// Escapes control characters: a record is one line, and kFieldStart is the log's own. Of those
/// that UTF-8 writes in two bytes, the second is escaped.
std::string one_line(std::string_view text) {
  std::string line;
  unsigned char before = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool ends_control = std::exchange(before, byte) == 0xc2 && byte >= 0x80 && byte < 0xa0;
    if (c == '\n') {
      line += "\\n";
    } else if (byte < 0x20 || byte == 0x7f || ends_control) {
      line += "\\x" + hex_of({&c, 1});
    } else {
      line += c;
    }
  }
  return line;
}

// A record passes through spdlog as one text: the message, and behind it each field as
// <kFieldStart>, '#' for a number or '$' for a text, name, '=', value.
constexpr char kFieldStart = '\x1f';

std::string join(std::string_view message, Logger::Fields fields) {
  std::string text = one_line(message);
  for (const auto& field : fields) {
    text += kFieldStart;
    text += field.is_number ? '#' : '$';
    text += one_line(field.name) + "=" + one_line(field.value);
  }
  return text;
}

struct ReadField {
  bool is_number = false;
  std::string_view name;
  std::string_view value;
};

struct Record {
  std::string_view message;
  std::vector<ReadField> fields;
};

Record split(std::string_view text) {
  Record record{text.substr(0, text.find(kFieldStart)), {}};
  text.remove_prefix(record.message.size());
  while (!text.empty()) {
    const auto field = text.substr(1, text.find(kFieldStart, 1) - 1);
    text.remove_prefix(field.size() + 1);
    const auto equals = field.find('=');
    record.fields.push_back(
        {field.front() == '#', field.substr(1, equals - 1), field.substr(equals + 1)});
  }
  return record;
}

std::string dump(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// ` name=value`, with quotes where the value could be taken for two.
std::string text_field(std::string_view name, const std::string& value) {
  const bool is_plain = !value.empty() && value.find_first_of(" \"=") == std::string::npos;
  return " " + std::string(name) + "=" + (is_plain ? value : dump(value));
}

}  // namespace

Result<Level> parse_level(std::string_view text) {
  return parse<Level>(text);
}

Result<Format> parse_format(std::string_view text) {
  return parse<Format>(text);
}

class Log::Sink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  Sink(Format format, std::ostream& out)
      : format_(format),
        out_(out),
        time_("%Y-%m-%dT%H:%M:%S.%eZ", spdlog::pattern_time_type::utc, "") {}

  void hide(const std::string& secret) {
    const std::scoped_lock lock(mutex_);
    secrets_.push_back(secret);
    // The longest first: one secret may be the beginning of another.
    std::ranges::sort(secrets_, std::ranges::greater{}, &std::string::size);
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const auto record = split({message.payload.data(), message.payload.size()});
    const std::string_view component(message.logger_name.data(), message.logger_name.size());
    spdlog::memory_buf_t buffer;
    time_.format(message, buffer);
    const std::string time(buffer.data(), buffer.size());
    const auto level = word_of(message.level);
    out_ << (format_ == Format::json ? json_line(time, level, component, record)
                                     : text_line(time, level, component, record))
         << '\n';
    out_.flush();
  }

  void flush_() override { out_.flush(); }

  std::string text_line(const std::string& time, std::string_view level, std::string_view component,
                        const Record& record) const {
    std::string line = time + " " + std::string(level) + " " + std::string(component) + ": " +
                       redact(record.message, secrets_);
    for (const auto& field : record.fields) {
      line += text_field(field.name, redact(field.value, secrets_));
    }
    return line;
  }

  std::string json_line(const std::string& time, std::string_view level, std::string_view component,
                        const Record& record) const {
    using nlohmann::ordered_json;
    ordered_json line{{"time", time},
                      {"level", level},
                      {"component", component},
                      {"message", redact(record.message, secrets_)}};
    for (const auto& field : record.fields) {
      const auto value = redact(field.value, secrets_);
      auto number = field.is_number ? ordered_json::parse(value, nullptr, false) : ordered_json();
      line[std::string(field.name)] = number.is_number() ? std::move(number) : ordered_json(value);
    }
    return dump(line);
  }

  const Format format_;
  std::ostream& out_;
  spdlog::pattern_formatter time_;
  std::vector<std::string> secrets_;
};

Log::Log(LogSettings settings, std::ostream& out)
    : sink_(std::make_shared<Sink>(settings.format, out)), level_(settings.level) {}

Log::~Log() = default;

Logger Log::logger(const std::string& component) const {
  auto series = std::make_shared<spdlog::logger>(component, sink_);
  series->set_level(level_of(level_));
  return Logger(std::move(series));
}

void Log::hide(const std::string& secret) {
  sink_->hide(secret);
}

void Logger::write(Level level, std::string_view message, Fields fields) const {
  if (!series_ || level == Level::off || !series_->should_log(level_of(level))) return;
  series_->log(level_of(level), join(message, fields));
}

}  // namespace torchwatch::log
