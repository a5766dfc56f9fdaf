#include "torchwatch/documents/setting.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "torchwatch/records/stated_variables.hpp"
#include "torchwatch/records/suggestion.hpp"

namespace torchwatch::comparison {
namespace {

constexpr std::size_t kTextMax = 1000;
constexpr char kEscape = '\\';

const std::vector<std::string>& known_words() {
  static const std::vector<std::string> words{"threads", "batch",     "precision", "backend",
                                              "heap",    "denormals", "gradients", "workload"};
  return words;
}

/// What is set for each run already, with why, or what to say in its place.
constexpr std::array<std::array<std::string_view, 2>, 4> kOwnVariables{
    {{"MALLOC_ARENA_MAX", "each run has one heap, whichever thread frees"},
     {"OMP_NUM_THREADS", "write threads=N"},
     {"MKL_NUM_THREADS", "write threads=N"},
     {"CUDA_VISIBLE_DEVICES", "the machine's owner sets it for the service"}}};

/// Parts of names that choose code to load, or files to write: whoever may ask for a measurement
/// may choose neither.
constexpr std::array<std::string_view, 8> kPartsOfPlaces{"PATH", "FILE", "_DIR", "LIBRAR",
                                                         "LOG",  "TOOL", "DUMP", "TRACE"};

bool names_place(std::string_view name) {
  return std::ranges::any_of(kPartsOfPlaces, [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

tl::unexpected<Error> invalid(std::string message, std::string remedy) {
  return fail(ErrorCode::invalid, std::move(message), std::move(remedy));
}

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

/// Splits at commas; one behind a backslash belongs to its part.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escaped = text[i] == kEscape && i + 1 < text.size() && text[i + 1] == ',';
    if (is_escaped) {
      parts.back() += text[++i];
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

std::string escaped(std::string_view value) {
  std::string text;
  for (const char character : value) {
    if (character == ',') text += kEscape;
    text += character;
  }
  return text;
}

bool is_variable(std::string_view name) {
  const auto fits = [](char character) {
    return (character >= 'A' && character <= 'Z') || (character >= '0' && character <= '9') ||
           character == '_';
  };
  return !name.empty() && std::ranges::all_of(name, fits);
}

Status require_settable(const std::string& name) {
  for (const auto& [own, instead] : kOwnVariables) {
    if (name == own) {
      return invalid("environment variable " + name + " cannot be set: each run has its own",
                     std::string(instead));
    }
  }
  if (is_stated(name) && !names_place(name)) return {};
  if (is_stated(name)) {
    return invalid("environment variable " + name +
                       " cannot be set: its name is one of code that is loaded, or of a file",
                   "a study sets what changes how LibTorch computes");
  }
  std::string allowed;
  for (const auto prefix : kStatedVariables) {
    allowed += (allowed.empty() ? "" : ", ") + std::string(prefix);
  }
  return invalid("environment variable " + name +
                     " cannot be set: a runner does not state it, so nobody could see what was "
                     "measured",
                 "its name must begin with one of " + allowed);
}

/// One part of a setting, which names each thing once.
class Part {
 public:
  Part(std::string name, std::string value) : name_(std::move(name)), value_(std::move(value)) {}

  Status read(Setting& setting) const {
    if (name_ == "threads" || name_ == "batch" || name_ == "backend") return read_variant(setting);
    if (name_ == "precision") return read_precision(setting);
    if (name_ == "heap") return read_choice("glibc", "fixed", setting.fixed_heap);
    if (name_ == "denormals") return read_choice("kept", "flushed", setting.flushes_denormals);
    if (name_ == "gradients") return read_choice("none", "zeroed", setting.zeroes_gradients);
    if (name_ == "workload") return read_workload(setting);
    if (is_variable(name_)) return read_variable(setting);
    return invalid(
        "unknown setting " + in_quotes(name_ + "=" + value_) +
            ": must be threads=N, batch=N, a precision, backend=, heap=, denormals=, gradients=, "
            "workload= or an environment variable NAME=VALUE",
        did_you_mean(name_, known_words()) +
            "`torchwatch compare --help` says what each one means");
  }

 private:
  template <typename T>
  Status set(std::optional<T>& member, T value) const {
    if (member) return twice();
    member = value;
    return {};
  }
  Status twice() const {
    return invalid(name_ + " is said twice", "a setting says each thing once");
  }

  Status read_variant(Setting& setting) const {
    const auto text = name_ == "backend" ? value_ : name_ + "=" + value_;
    TW_TRY(const auto variant, parse_variant(text));
    if (name_ == "threads") return set(setting.threads, variant.threads);
    if (name_ == "batch") return set(setting.batch, variant.batch);
    TW_TRY(const auto backend, parse_backend(value_));
    return set(setting.backend, backend);
  }
  Status read_precision(Setting& setting) const {
    TW_TRY(const auto precision, parse_precision(value_));
    return set(setting.precision, precision);
  }
  Status read_choice(std::string_view no, std::string_view yes, std::optional<bool>& member) const {
    if (value_ == yes || value_ == no) return set(member, value_ == yes);
    return invalid("invalid " + in_quotes(name_ + "=" + value_) + ": must be " + name_ + "=" +
                       std::string(no) + " or " + name_ + "=" + std::string(yes),
                   "");
  }
  Status read_workload(Setting& setting) const {
    if (value_.empty()) return invalid("workload= names no workload", "write workload=NAME");
    if (!setting.workload.empty()) return twice();
    setting.workload = value_;
    return {};
  }
  Status read_variable(Setting& setting) const {
    TW_TRY_VOID(require_settable(name_));
    const bool is_plain = std::ranges::all_of(value_, [](char each) { return each >= ' '; });
    if (!is_plain) return invalid("the value of " + name_ + " has a control character", "");
    if (value_.ends_with(kEscape)) {
      return invalid("the value of " + name_ +
                         " ends in a backslash, which would join it to the "
                         "next part",
                     "leave the backslash out");
    }
    if (!setting.environment.emplace(name_, value_).second) return twice();
    return {};
  }

  std::string name_;
  std::string value_;
};

Status read_part(const std::string& text, Setting& setting) {
  if (text.empty()) return invalid("a part of the setting is empty", "leave out one comma");
  const auto equals = text.find('=');
  if (equals != std::string::npos) {
    return Part(text.substr(0, equals), text.substr(equals + 1)).read(setting);
  }
  // A word alone is a precision or a backend, as in a variant.
  if (parse_precision(text)) return Part("precision", text).read(setting);
  if (parse_backend(text)) return Part("backend", text).read(setting);
  if (text == "heap" || text == "denormals" || text == "gradients") {
    return Part(text, "").read(setting);  // which says what it may be
  }
  return invalid(
      "unknown setting " + in_quotes(text) + ": must be NAME=VALUE, a precision, or default alone",
      did_you_mean(text, known_words()) + "`torchwatch compare --help` says what each one means");
}

}  // namespace

std::string to_string(const Setting& setting) {
  std::string text;
  const auto add = [&text](const std::string& name, std::string_view value) {
    text += (text.empty() ? "" : ",") + name + "=" + escaped(value);
  };
  if (!setting.workload.empty()) add("workload", setting.workload);
  if (setting.precision) add("precision", to_string(*setting.precision));
  if (setting.backend) add("backend", to_string(*setting.backend));
  if (setting.batch) add("batch", std::to_string(*setting.batch));
  if (setting.threads) add("threads", std::to_string(*setting.threads));
  if (setting.fixed_heap) add("heap", *setting.fixed_heap ? "fixed" : "glibc");
  if (setting.flushes_denormals) add("denormals", *setting.flushes_denormals ? "flushed" : "kept");
  if (setting.zeroes_gradients) add("gradients", *setting.zeroes_gradients ? "zeroed" : "none");
  for (const auto& [name, value] : setting.environment) add(name, value);
  return text.empty() ? "default" : text;
}

Result<Setting> parse_setting(std::string_view text) {
  Setting setting;
  if (text == "default") return setting;
  if (text.empty()) return invalid("a setting is empty", "write default where nothing is changed");
  if (text.size() > kTextMax) {
    return invalid("a setting has more than " + std::to_string(kTextMax) + " characters", "");
  }
  for (const auto& part : parts_of(text)) TW_TRY_VOID(read_part(part, setting));
  return setting;
}

Benchmark applied(const Setting& setting, Benchmark benchmark) {
  auto& variant = benchmark.variant;
  if (!setting.workload.empty()) benchmark.workload = setting.workload;
  variant.precision = setting.precision.value_or(variant.precision);
  variant.backend = setting.backend.value_or(variant.backend);
  variant.batch = setting.batch.value_or(variant.batch);
  variant.threads = setting.threads.value_or(variant.threads);
  return benchmark;
}

}  // namespace torchwatch::comparison
