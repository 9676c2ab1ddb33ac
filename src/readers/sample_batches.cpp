#include "readers/sample_batches.h"

#include <algorithm>

namespace whyformer {
namespace {

constexpr int64_t kMostWaiting = int64_t{1} << 24;  // numbers of samples in memory

int64_t size_of(const Sample& sample) {
  int64_t size = 0;
  for (const auto& [name, tensor] : sample) size += tensor.size();
  return std::max<int64_t>(1, size);
}

SampleShapes shapes_of(const Sample& sample) {
  SampleShapes shapes;
  for (const auto& [name, tensor] : sample) shapes[name] = tensor.shape();
  return shapes;
}

}  // namespace

SampleBatches::SampleBatches(const GraphSource& source, RunKind kind, Room room, Take take)
    : source_(source), kind_(std::move(kind)), room_(std::move(room)), take_(std::move(take)) {}

// A graph for each shape of a single sample would cost as much as the run of some.
size_t SampleBatches::room_for(const Sample& sample) {
  const int64_t size = size_of(sample);
  if (known_ == nullptr) {
    known_ = source_.graph({.shapes = shapes_of(sample), .head = kind_.head, .dtype = kind_.dtype});
    known_size_ = size;
    known_tokens_ = tokens_in(*known_, known_->grid.rows > 0 ? known_->grid.count() : size);
  }
  const int64_t tokens = std::max<int64_t>(1, known_tokens_ * size / known_size_);
  return static_cast<size_t>(std::max<int64_t>(1, room_(*known_, tokens)));
}

void SampleBatches::add(size_t number, Sample sample) {
  Waiting& waiting = waiting_[shapes_of(sample)];
  if (waiting.samples.empty()) waiting.room = room_for(sample);
  waiting_numbers_ += size_of(sample);
  waiting.samples.push_back(std::move(sample));
  waiting.numbers.push_back(number);
  if (waiting.samples.size() >= waiting.room) return run(waiting);
  if (waiting_numbers_ > kMostWaiting) finish();
}

void SampleBatches::finish() {
  for (auto& [shapes, waiting] : waiting_) run(waiting);
  waiting_.clear();
}

void SampleBatches::run(Waiting& waiting) {
  if (waiting.samples.empty()) return;
  for (const Sample& sample : waiting.samples) waiting_numbers_ -= size_of(sample);
  take_(source_.fed(waiting.samples, kind_), waiting.numbers);
  waiting.samples.clear();
  waiting.numbers.clear();
}

}  // namespace whyformer
