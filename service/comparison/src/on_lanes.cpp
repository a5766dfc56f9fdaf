#include "on_lanes.hpp"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <numeric>

#include "dealing.hpp"
#include "torchwatch/config/classes.hpp"

namespace torchwatch::comparison {
namespace {

/// How often a portion, or the blocks of a lane in a row, are lost before that is an error.
constexpr int kLossesMax = 3;

/// A portion of the plan, and how often its blocks were lost.
struct Measured {
  Benchmark benchmark;
  Pass pass = Pass::timing;
  int losses = 0;  ///< since its last pair that was stored
};

/// No run of the plan takes longer: interleaved ones have twice their limit.
std::chrono::seconds longest_run(const Plan& plan) {
  return std::chrono::ceil<std::chrono::seconds>(std::chrono::milliseconds(2 * plan.time_limit_ms));
}

/// A lane of a comparison, and what it has in common with others of its machine class.
struct Lane {
  int number = 0;
  std::string machine_class;  ///< empty: all lanes are of one
  /// The first lane of each class keeps its node for what follows a comparison, as a search. So it
  /// waits for what others may lose: for them there may be no further node.
  bool is_kept = false;
};

/// The lanes of one comparison, each with a thread of its own. What they share is guarded by one
/// lock, which is open while a run is under way or a node is waited for.
class Lanes {
 public:
  Lanes(Services& services, const Comparison& comparison, const SharedByLanes& shared,
        std::vector<Measured> measured, Dealing dealing)
      : services_(services),
        comparison_(comparison),
        shared_(shared),
        measured_(std::move(measured)),
        dealing_(std::move(dealing)) {
    for (int lane = 0; lane < services_.lanes->count(); ++lane) {
      ends_[services_.lanes->machine_class(lane)] = {};
    }
  }

  Status measure(std::stop_token stop) {
    const std::stop_callback forward(std::move(stop), [this] { stop_all(); });
    std::vector<std::future<Status>> lanes;
    for (const auto& lane : wanted_lanes()) {
      lanes.push_back(std::async(std::launch::async, [this, lane] { return attend(lane); }));
    }
    Status worst;
    for (auto& lane : lanes) {
      const auto ended = lane.get();
      if (worst && !ended) worst = ended;
    }
    if (cause_) return fail(*cause_);
    return dealing_.is_over() ? Status{} : worst;
  }

 private:
  /// No more lanes of a class than it has portions left.
  std::vector<Lane> wanted_lanes() const {
    std::vector<Lane> lanes;
    std::map<std::string, int> taken;
    for (int number = 0; number < services_.lanes->count(); ++number) {
      const auto of = services_.lanes->machine_class(number);
      const int before = taken[of];
      if (before >= dealing_.open(of)) continue;
      ++taken[of];
      lanes.push_back({.number = number, .machine_class = of, .is_kept = before == 0});
    }
    return lanes;
  }

  /// An error of a library must not leave the other lanes at work.
  Status attend(const Lane& lane) {
    try {
      const auto ended = work(lane);
      changed_.notify_all();
      if (!lane.is_kept) services_.lanes->give_back(lane.number);
      return ended;
    } catch (...) {
      stop_all();
      throw;
    }
  }

  Status work(const Lane& lane) {
    std::optional<Error> loss;
    for (int losses = 0; losses < kLossesMax;) {
      const auto node = services_.lanes->hold(
          lane.number, longest_run(comparison_.plan), [&] { leave(lane); }, token(lane));
      std::unique_lock lock(mutex_);
      if (!node) return give_up(lane, node.error());
      dealing_.hold(lane.number, *node, lane.machine_class);
      const auto portion = next(lane, lock);
      if (!portion) return finish(lane);
      Place place{services_.lanes->lane(lane.number), *node, lock};
      const auto done = carry_out(lane, *portion, place);
      changed_.notify_all();
      if (done) losses = 0;
      if (done) continue;
      if (!place.is_lost) return end_all(lane, done.error());
      TW_TRY_VOID(note_loss(lane, *portion, done.error()));
      loss = done.error();
      ++losses;
    }
    const std::scoped_lock lock(mutex_);
    return give_up(lane, *loss);
  }

  /// Waits until something can be said of the machines of the class, which the first run decides.
  std::optional<std::size_t> next(const Lane& lane, std::unique_lock<std::mutex>& lock) {
    const auto& of = lane.machine_class;
    changed_.wait(lock, token(lane), [&] {
      return shared_.recorder.knows_class(of) || !dealing_.is_any_under_way(of);
    });
    if (is_stopped(lane)) return std::nullopt;
    auto portion = dealing_.take(lane.number);
    if (portion || !lane.is_kept) return portion;
    changed_.wait(lock, token(lane), [&] {
      if (!is_stopped(lane)) portion = dealing_.take(lane.number);
      return portion || dealing_.is_over(of);
    });
    return portion;
  }

  Status carry_out(const Lane& lane, std::size_t portion, Place& place) {
    const auto& benchmark = measured_[portion].benchmark;
    const auto pass = measured_[portion].pass;
    const auto block = shared_.schedule.next(benchmark, pass);
    if (const auto same = require_unchanged(services_, comparison_.row); !same) {
      dealing_.end(portion, rank_of(portion));
      return same;
    }
    services_.progress.progress(dealing_.decided(), static_cast<int>(measured_.size()),
                                to_string(benchmark) + ", " + std::string(to_string(pass)) + ", " +
                                    std::string(spelling(block->stage)) + ", on " + place.node);
    const auto before = begun_runs(*block);
    const auto done = shared_.blocks.run(*block, token(lane), &place);
    if (begun_runs(*block) > before) measured_[portion].losses = 0;
    dealing_.end(portion, rank_of(portion));
    return done;
  }

  /// How many runs of the block have ended.
  int begun_runs(const Block& block) const {
    int count = 0;
    for (int position = 0; position < block.runs; ++position) {
      count += shared_.schedule.runs().is_begun(block.slot(position)) ? 1 : 0;
    }
    return count;
  }

  std::optional<Dealing::Rank> rank_of(std::size_t portion) const {
    const auto block = shared_.schedule.next(measured_[portion].benchmark, measured_[portion].pass);
    if (!block) return std::nullopt;
    return shared_.schedule.rank_of(*block);
  }

  Status note_loss(const Lane& lane, std::size_t portion, const Error& error) {
    dealing_.leave(lane.number);
    auto& measured = measured_[portion];
    services_.progress.log("a block of " + to_string(measured.benchmark) +
                           " is measured again: " + error.text());
    // A node of another class says nothing of what is measured there.
    if (error.code != ErrorCode::unavailable || ++measured.losses < kLossesMax) return {};
    return end_all(lane, error);
  }

  void leave(const Lane& lane) {
    const std::scoped_lock lock(mutex_);
    dealing_.leave(lane.number);
    changed_.notify_all();
  }

  /// The others continue without this lane.
  Status give_up(const Lane& lane, const Error& error) {
    dealing_.leave(lane.number);
    if (dealing_.is_over(lane.machine_class)) return {};
    if (error.code != ErrorCode::cancelled) {
      const auto of = lane.machine_class.empty() ? "" : " of class " + lane.machine_class;
      services_.progress.log("lane " + std::to_string(lane.number) + of +
                             " is given up: " + error.text());
    }
    return fail(error);
  }

  /// Nothing is left for this lane: what is left is of other nodes.
  Status finish(const Lane& lane) {
    dealing_.leave(lane.number);
    if (dealing_.is_over(lane.machine_class)) {
      end_of(lane).request_stop();  // some lanes may still wait for a node
      return {};
    }
    if (is_stopped(lane)) return fail(ErrorCode::cancelled, "interrupted before a run");
    return {};
  }

  Status end_all(const Lane& lane, const Error& error) {
    if (!cause_ && !is_stopped(lane)) cause_ = error;
    stop_all();
    return fail(error);
  }

  std::stop_source& end_of(const Lane& lane) { return ends_.at(lane.machine_class); }
  std::stop_token token(const Lane& lane) { return end_of(lane).get_token(); }
  bool is_stopped(const Lane& lane) { return end_of(lane).stop_requested(); }
  void stop_all() {
    for (auto& [_, end] : ends_) end.request_stop();
  }

  Services& services_;
  const Comparison& comparison_;
  const SharedByLanes& shared_;
  std::mutex mutex_;  ///< guards what follows, and what is shared
  std::condition_variable_any changed_;
  std::vector<Measured> measured_;
  Dealing dealing_;
  std::optional<Error> cause_;                    ///< that ended all lanes
  std::map<std::string, std::stop_source> ends_;  ///< by class; never changed while lanes work
};

double usual(const std::map<std::pair<Benchmark, Pass>, double>& known, const Benchmark& benchmark,
             Pass pass) {
  const auto found = known.find({benchmark, pass});
  if (found != known.end()) return found->second;
  const auto sum = std::accumulate(known.begin(), known.end(), 0.0,
                                   [](double all, const auto& of) { return all + of.second; });
  return known.empty() ? 1 : sum / static_cast<double>(known.size());
}

/// Lanes and classes are of one configuration, but somebody may have put them together otherwise.
Status require_lane(executor::Lanes& lanes, const std::string& machine_class) {
  for (int lane = 0; lane < lanes.count(); ++lane) {
    if (lanes.machine_class(lane) == machine_class) return {};
  }
  return fail(ErrorCode::internal, "class \"" + machine_class + "\" has no lane");
}

}  // namespace

Status measure_on_lanes(Services& services, const Comparison& comparison,
                        const SharedByLanes& shared, std::stop_token stop) {
  TW_TRY(const auto past, shared.recorder.past_runs());
  std::map<std::pair<Benchmark, Pass>, std::string> nodes;
  for (const auto& run : past) nodes[{run.row.benchmark, run.row.pass}] = run.row.node;
  TW_TRY(const auto seconds, storage::RunStore(services.database).usual_seconds());
  std::vector<Measured> measured;
  std::vector<Dealing::Portion> portions;
  for (const auto& benchmark : comparison.plan.benchmarks) {
    TW_TRY(const auto machine_class, config::class_of(services.config, benchmark.configuration));
    TW_TRY_VOID(require_lane(*services.lanes, machine_class));
    for (const auto pass : comparison.plan.passes) {
      if (!has_pass(comparison.plan, benchmark, pass)) continue;
      const auto block = shared.schedule.next(benchmark, pass);
      measured.push_back({benchmark, pass});
      portions.push_back(
          {.seconds = usual(seconds, benchmark, pass),
           .machine_class = machine_class,
           .node = nodes[{benchmark, pass}],
           .next = block ? std::optional(shared.schedule.rank_of(*block)) : std::nullopt});
    }
  }
  return Lanes(services, comparison, shared, std::move(measured), Dealing(std::move(portions)))
      .measure(stop);
}

}  // namespace torchwatch::comparison
