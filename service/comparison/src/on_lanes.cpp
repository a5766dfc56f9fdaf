#include "on_lanes.hpp"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <numeric>

#include "dealing.hpp"

namespace torchwatch::comparison {
namespace {

/// How often a portion, or the blocks of a lane in a row, are lost before that is an error.
constexpr int kLossesMax = 3;

/// The lane that keeps its node for what follows a comparison, as a search. So it waits for what
/// others may lose: for them there may be no further node.
constexpr int kKept = 0;

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
        dealing_(std::move(dealing)) {}

  Status measure(std::stop_token stop) {
    const std::stop_callback forward(std::move(stop), [this] { end_.request_stop(); });
    const int open = static_cast<int>(measured_.size()) - dealing_.decided();
    std::vector<std::future<Status>> lanes;
    for (int lane = 0; lane < std::min(services_.lanes->count(), open); ++lane) {
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
  /// An error of a library must not leave the other lanes at work.
  Status attend(int lane) {
    try {
      const auto ended = work(lane);
      changed_.notify_all();
      if (lane != kKept) services_.lanes->give_back(lane);
      return ended;
    } catch (...) {
      end_.request_stop();
      throw;
    }
  }

  Status work(int lane) {
    std::optional<Error> loss;
    for (int losses = 0; losses < kLossesMax;) {
      const auto node = services_.lanes->hold(
          lane, longest_run(comparison_.plan), [&] { leave(lane); }, end_.get_token());
      std::unique_lock lock(mutex_);
      if (!node) return give_up(lane, node.error());
      dealing_.hold(lane, *node);
      const auto portion = next(lane, lock);
      if (!portion) return finish(lane);
      Place place{services_.lanes->lane(lane), *node, lock};
      const auto done = carry_out(*portion, place);
      changed_.notify_all();
      if (done) losses = 0;
      if (done) continue;
      if (!place.is_lost) return end_all(done.error());
      TW_TRY_VOID(note_loss(lane, *portion, done.error()));
      loss = done.error();
      ++losses;
    }
    const std::scoped_lock lock(mutex_);
    return give_up(lane, *loss);
  }

  /// Waits until something can be said of the class of all nodes, which the first run decides.
  std::optional<std::size_t> next(int lane, std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock, end_.get_token(), [this] {
      return shared_.recorder.knows_class() || !dealing_.is_any_under_way();
    });
    if (end_.stop_requested()) return std::nullopt;
    auto portion = dealing_.take(lane);
    if (portion || lane != kKept) return portion;
    changed_.wait(lock, end_.get_token(), [&] {
      if (!end_.stop_requested()) portion = dealing_.take(lane);
      return portion || dealing_.is_over();
    });
    return portion;
  }

  Status carry_out(std::size_t portion, Place& place) {
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
    const auto done = shared_.blocks.run(*block, end_.get_token(), &place);
    if (begun_runs(*block) > before) measured_[portion].losses = 0;
    dealing_.end(portion, rank_of(portion));
    return done;
  }

  /// How many runs of the block have ended.
  int begun_runs(const Block& block) const {
    int count = 0;
    for (int position = 0; position < Block::kRuns; ++position) {
      count += shared_.schedule.is_begun(block.slot(position)) ? 1 : 0;
    }
    return count;
  }

  std::optional<Dealing::Rank> rank_of(std::size_t portion) const {
    const auto block = shared_.schedule.next(measured_[portion].benchmark, measured_[portion].pass);
    if (!block) return std::nullopt;
    return shared_.schedule.rank_of(*block);
  }

  Status note_loss(int lane, std::size_t portion, const Error& error) {
    dealing_.leave(lane);
    auto& measured = measured_[portion];
    services_.progress.log("a block of " + to_string(measured.benchmark) +
                           " is measured again: " + error.text());
    // A node of another class says nothing of what is measured there.
    if (error.code != ErrorCode::unavailable || ++measured.losses < kLossesMax) return {};
    return end_all(error);
  }

  void leave(int lane) {
    const std::scoped_lock lock(mutex_);
    dealing_.leave(lane);
    changed_.notify_all();
  }

  /// The others continue without this lane.
  Status give_up(int lane, const Error& error) {
    dealing_.leave(lane);
    if (error.code != ErrorCode::cancelled) {
      services_.progress.log("lane " + std::to_string(lane) + " is given up: " + error.text());
    }
    return fail(error);
  }

  /// Nothing is left for this lane: what is left is of other nodes.
  Status finish(int lane) {
    dealing_.leave(lane);
    if (end_.stop_requested()) return fail(ErrorCode::cancelled, "interrupted before a run");
    if (dealing_.is_over()) end_.request_stop();  // some lanes may still wait for a node
    return {};
  }

  Status end_all(const Error& error) {
    if (!cause_ && !end_.stop_requested()) cause_ = error;
    end_.request_stop();
    return fail(error);
  }

  Services& services_;
  const Comparison& comparison_;
  const SharedByLanes& shared_;
  std::mutex mutex_;  ///< guards what follows, and what is shared
  std::condition_variable_any changed_;
  std::vector<Measured> measured_;
  Dealing dealing_;
  std::optional<Error> cause_;  ///< that ended all lanes
  std::stop_source end_;
};

double usual(const std::map<std::pair<Benchmark, Pass>, double>& known, const Benchmark& benchmark,
             Pass pass) {
  const auto found = known.find({benchmark, pass});
  if (found != known.end()) return found->second;
  const auto sum = std::accumulate(known.begin(), known.end(), 0.0,
                                   [](double all, const auto& of) { return all + of.second; });
  return known.empty() ? 1 : sum / static_cast<double>(known.size());
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
    for (const auto pass : comparison.plan.passes) {
      const auto block = shared.schedule.next(benchmark, pass);
      measured.push_back({benchmark, pass});
      portions.push_back(
          {.seconds = usual(seconds, benchmark, pass),
           .node = nodes[{benchmark, pass}],
           .next = block ? std::optional(shared.schedule.rank_of(*block)) : std::nullopt});
    }
  }
  return Lanes(services, comparison, shared, std::move(measured), Dealing(std::move(portions)))
      .measure(stop);
}

}  // namespace torchwatch::comparison
