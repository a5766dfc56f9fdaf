#include <map>
#include <mutex>
#include <sstream>

#include "libtorch_program.hpp"
#include "torchwatch/builds/folder_lock.hpp"
#include "torchwatch/channel/channel.hpp"
#include "torchwatch/digest/sha256.hpp"
#include "torchwatch/platform/failpoint.hpp"

namespace torchwatch::channel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kVersionLettersMax = 64;

/// A version as the index writes it ("2.12.1", "2.13.0+cpu"): it becomes part of a path and an
/// argument of a program.
bool is_version(const std::string& text) {
  static constexpr const char* kLetters =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+!_-";
  return !text.empty() && text.size() <= kVersionLettersMax && text[0] >= '0' && text[0] <= '9' &&
         text.find_first_not_of(kLetters) == std::string::npos &&
         text.find("..") == std::string::npos;
}

void add(const std::string& option, const std::string& value, std::vector<std::string>& arguments) {
  if (!value.empty()) arguments.insert(arguments.end(), {option, value});
}

/// A line of the list: a version, and behind a tab its fingerprint.
Offer offer_in(const std::string& line) {
  const auto tab = line.find('\t');
  if (tab == std::string::npos) return {.name = line};
  return {.name = line.substr(0, tab), .fingerprint = line.substr(tab + 1)};
}

/// Files that stood under one version one after the other are different builds, and so is a version
/// with CUDA's libraries or for Python.
std::string folder_name(const Offer& offer, Extent extent) {
  constexpr std::size_t kDigits = 12;
  const auto end =
      std::string(extent.for_cuda ? "-cuda" : "") + (extent.with_python ? "-python" : "");
  if (offer.fingerprint.empty()) return offer.name + end;
  return offer.name + "-" + digest::sha256_hex(offer.fingerprint).substr(0, kDigits) + end;
}

class WheelIndexChannel final : public Channel {
 public:
  WheelIndexChannel(WheelIndexSettings settings, process::ProcessRunner& processes)
      : settings_(std::move(settings)),
        program_({.program = settings_.program,
                  .python = settings_.python,
                  .folder = fs::absolute(settings_.cache),
                  .readable = {},
                  .time_limit = settings_.time_limit,
                  .disk_reserve_bytes = settings_.disk_reserve_bytes,
                  .sandbox = settings_.sandbox},
                 processes) {
    settings_.cache = fs::absolute(settings_.cache);
  }

  Result<std::vector<Offer>> list(std::stop_token stop) override {
    auto arguments = of_index({"--list"});
    add("--flavour", settings_.flavour, arguments);
    add("--since", settings_.since, arguments);
    auto output = run(std::move(arguments), std::move(stop));
    if (!output) return fail(output.error().within("cannot list the versions of PyTorch"));
    std::vector<Offer> offers;
    std::istringstream lines(*output);
    for (std::string line; std::getline(lines, line);) {
      auto offer = offer_in(line);
      if (is_version(offer.name)) offers.push_back(std::move(offer));
    }
    return offers;
  }

  std::optional<std::size_t> at_first() const override {
    constexpr std::size_t kToCompare = 2;
    return settings_.since.empty() ? std::optional(kToCompare) : std::nullopt;
  }

  std::string manner() const override {
    return settings_.python + (settings_.for_cuda ? ", for CUDA" : "") +
           (settings_.with_python ? ", with Python" : "");
  }

  Result<builds::Tree> fetch(const Offer& offer, std::stop_token stop) override {
    const auto& version = offer.name;
    if (!is_version(version)) {
      return fail(ErrorCode::not_found,
                  "invalid release \"" + version + "\": must be a version such as 2.13.0");
    }
    const std::scoped_lock one_at_a_time(fetching_);
    const fs::path tree = settings_.cache / folder_name(offer, extent()) / "torch";
    auto there = builds::inspect(tree);
    if (there || there.error().code == ErrorCode::unavailable) return there;
    TW_TRY(const auto lock, builds::FolderLock::acquire(settings_.cache));
    if (auto made = make(offer, tree, std::move(stop)); !made) {
      return fail(made.error().within("cannot fetch PyTorch " + version));
    }
    return builds::inspect(tree);
  }

 private:
  Extent extent() const { return {settings_.for_cuda, settings_.with_python}; }

  std::vector<std::string> of_index(std::vector<std::string> arguments) const {
    if (settings_.has_archives) arguments.emplace_back("--archives");
    return arguments;
  }

  Result<std::string> run(std::vector<std::string> arguments, std::stop_token stop) const {
    // The address may hold a password, and everybody on the machine can read the arguments.
    std::map<std::string, std::string> more;
    if (!settings_.index.empty()) more["TORCHWATCH_INDEX"] = settings_.index;
    return program_.run(std::move(arguments), more, std::move(stop));
  }

  /// Lets the program put the version into `tree`. It publishes the tree whole or not at all.
  Status make(const Offer& offer, const fs::path& tree, std::stop_token stop) {
    std::error_code ignored;
    fs::remove_all(tree, ignored);  // there, but damaged
    auto arguments = of_index({"--version", offer.name, "--exact"});
    add("--fingerprint", offer.fingerprint, arguments);
    add_extent(extent(), settings_.cache, arguments);
    arguments.insert(arguments.end(), {"--into", tree.string()});
    auto done = run(std::move(arguments), std::move(stop));
    if (!done) {
      fs::remove_all(fs::path(tree) += ".partial", ignored);  // it was killed
      return fail(done.error());
    }
    TW_TRY_VOID(platform::failpoint("channel.after_fetch_published"));
    if (auto inspected = builds::inspect(tree); !inspected) {
      fs::remove_all(tree, ignored);
      return fail(inspected.error().as(ErrorCode::corrupt));
    }
    return {};
  }

  WheelIndexSettings settings_;
  LibtorchProgram program_;
  std::mutex fetching_;
};

}  // namespace

std::unique_ptr<Channel> make_wheel_index_channel(WheelIndexSettings settings,
                                                  process::ProcessRunner& processes) {
  return std::make_unique<WheelIndexChannel>(std::move(settings), processes);
}

}  // namespace torchwatch::channel
