#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "torchwatch/models/torch.hpp"

namespace torchwatch::models {
namespace nms_detail {

/// Boxes in the order of falling score, contiguous float32, and their classes.
struct Ranked {
  torch::Tensor boxes;
  torch::Tensor classes;
};

/// Candidates that are suppressed by a better one, word by word: bit j of row i says that box i, if
/// kept, suppresses box j.
class SuppressionBits {
 public:
  static constexpr std::int64_t kWord = 64;

  SuppressionBits(const Ranked& ranked, double threshold)
      : count_(ranked.boxes.size(0)), words_((count_ + kWord - 1) / kWord) {
    // Rows are handled in blocks: the overlaps of 12,000 boxes in one piece would take gigabytes.
    constexpr std::int64_t kRows = 512;
    std::vector<torch::Tensor> blocks;
    const auto area = area_of(ranked.boxes);
    for (std::int64_t row = 0; row < count_; row += kRows) {
      const auto end = std::min(row + kRows, count_);
      blocks.push_back(pack(overlapping(ranked, area, row, end, threshold)));
    }
    bits_ = torch::cat(blocks).to(torch::kCPU).contiguous();
  }

  /// Positions that survive, best first.
  std::vector<std::int64_t> survivors() const {
    std::vector<std::int64_t> kept;
    std::vector<std::uint64_t> gone(static_cast<std::size_t>(words_), 0);
    const auto* row = bits_.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < count_; ++i, row += words_) {
      const auto word = gone[static_cast<std::size_t>(i / kWord)];
      if (((word >> static_cast<unsigned>(i % kWord)) & 1U) != 0) continue;
      kept.push_back(i);
      for (std::size_t w = 0; w < gone.size(); ++w) gone[w] |= std::bit_cast<std::uint64_t>(row[w]);
    }
    return kept;
  }

 private:
  static torch::Tensor area_of(const torch::Tensor& boxes) {
    return (boxes.select(1, 2) - boxes.select(1, 0)) * (boxes.select(1, 3) - boxes.select(1, 1));
  }

  static torch::Tensor overlapping(const Ranked& ranked, const torch::Tensor& area,
                                   std::int64_t row, std::int64_t end, double threshold) {
    const auto mine = ranked.boxes.slice(0, row, end).unsqueeze(1);
    const auto corner_low = torch::max(mine.slice(2, 0, 2), ranked.boxes.slice(1, 0, 2));
    const auto corner_high = torch::min(mine.slice(2, 2, 4), ranked.boxes.slice(1, 2, 4));
    const auto sides = (corner_high - corner_low).clamp_min(0);
    const auto shared = sides.select(2, 0) * sides.select(2, 1);
    const auto overlap = shared / (area.slice(0, row, end).unsqueeze(1) + area - shared);
    return (overlap > threshold)
        .logical_and_(ranked.classes.slice(0, row, end).unsqueeze(1) == ranked.classes);
  }

  torch::Tensor pack(const torch::Tensor& flags) const {
    const auto padded = torch::constant_pad_nd(flags, {0, words_ * kWord - count_});
    const auto place = torch::arange(kWord, flags.options().dtype(torch::kInt64));
    const auto words = padded.view({flags.size(0), words_, kWord}).to(torch::kInt64);
    return words.bitwise_left_shift(place).sum(-1);
  }

  std::int64_t count_;
  std::int64_t words_;
  torch::Tensor bits_;
};

/// The same walk on the CPU, where an overlap is computed only if it is needed.
class CandidateWalk {
 public:
  CandidateWalk(const Ranked& ranked, double threshold)
      : boxes_(ranked.boxes.data_ptr<float>()),
        classes_(ranked.classes.data_ptr<std::int64_t>()),
        count_(ranked.boxes.size(0)),
        threshold_(threshold) {}

  std::vector<std::int64_t> survivors() const {
    std::vector<std::int64_t> kept;
    std::vector<char> gone(static_cast<std::size_t>(count_), 0);
    for (std::int64_t i = 0; i < count_; ++i) {
      if (gone[static_cast<std::size_t>(i)] != 0) continue;
      kept.push_back(i);
      for (std::int64_t j = i + 1; j < count_; ++j) {
        if (classes_[i] == classes_[j] && overlap(i, j) > threshold_) {
          gone[static_cast<std::size_t>(j)] = 1;
        }
      }
    }
    return kept;
  }

 private:
  float overlap(std::int64_t i, std::int64_t j) const {
    const float* a = boxes_ + 4 * i;
    const float* b = boxes_ + 4 * j;
    const float width = std::max(std::min(a[2], b[2]) - std::max(a[0], b[0]), 0.0F);
    const float height = std::max(std::min(a[3], b[3]) - std::max(a[1], b[1]), 0.0F);
    const float shared = width * height;
    return shared / (area(a) + area(b) - shared);
  }

  static float area(const float* box) { return (box[2] - box[0]) * (box[3] - box[1]); }

  const float* boxes_;
  const std::int64_t* classes_;
  std::int64_t count_;
  double threshold_;
};

}  // namespace nms_detail

/// Non-maximum suppression within each class: the indices of the boxes (N, 4: left, top, right,
/// bottom) that overlap no better one of their class by more than `threshold`, best first. On CUDA
/// the overlaps are computed there and walked on the host.
inline torch::Tensor batched_nms(const torch::Tensor& boxes, const torch::Tensor& scores,
                                 const torch::Tensor& classes, double threshold) {
  const torch::NoGradGuard no_gradients;
  const auto order = scores.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  if (order.numel() == 0) return order;
  const nms_detail::Ranked ranked{
      .boxes = boxes.index_select(0, order).to(torch::kFloat32).contiguous(),
      .classes = classes.index_select(0, order).contiguous()};
  const auto kept = boxes.is_cpu() ? nms_detail::CandidateWalk(ranked, threshold).survivors()
                                   : nms_detail::SuppressionBits(ranked, threshold).survivors();
  return order.index_select(0, torch::tensor(kept).to(order.device()));
}

/// Non-maximum suppression among boxes of one kind.
inline torch::Tensor nms(const torch::Tensor& boxes, const torch::Tensor& scores,
                         double threshold) {
  return batched_nms(boxes, scores, torch::zeros_like(scores, torch::kInt64), threshold);
}

}  // namespace torchwatch::models
