#include "studies/heads/head_examples.h"

#include <fmt/format.h>

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer {

// Inputs that the model cannot take say where they are.
template <class Work>
auto HeadExamples::at(int64_t example, const Work& work) const {
  try {
    return work();
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", corpus_[example].place, error.what()));
  }
}

HeadExamples::HeadExamples(const Reader& reader, const std::vector<LabelledInput>& corpus)
    : reader_(reader), corpus_(corpus) {
  if (corpus.empty()) return;
  max_at_once_ = reader.max_at_once(corpus[0].input);
  answered_ = at(0, [&] { return reader.answered(corpus[0].input, {}); });
  // Inputs of one size are costly to read; all others are looked at before hours of work.
  if (reader.fixed_shapes()) return;
  for (int64_t example = 0; example < count(); ++example) {
    std::vector<std::string> notes;
    at(example, [&] { return reader_.sample(corpus_[example].input, DType::kFloat32, notes); });
    for (std::string& note : notes) notes_of_inputs_.push_back(std::move(note));
  }
}

Input HeadExamples::input(int64_t example, DType dtype) const {
  const Reader& reader = reader_;
  Reading reading = at(example, [&] {
    return reader.read(corpus_[example].input, {.dtype = dtype, .needs_answer = false});
  });
  Input& input = reading.inputs[0];
  if (!input.attends_by_unit()) {
    throw InvalidInput(
        "heads cannot be measured: " +
        (input.has_maps() ? "some columns of this table are several tokens" : input.why_no_maps()));
  }
  return std::move(input);
}

std::unique_ptr<Run> HeadExamples::run(int64_t example, DType dtype, Run::Settings settings) const {
  return std::make_unique<Run>(input(example, dtype), std::move(settings));
}

void HeadExamples::in_batches(int64_t tokens_at_once, DType dtype,
                              const SampleBatches::Take& take) const {
  const GraphSource& source = reader_.source();
  SampleBatches batches(
      source, {.head = answered_.kind.head, .dtype = dtype},
      [&](const ModelGraph&, int64_t tokens) {
        return std::clamp<int64_t>(tokens_at_once / tokens, 1, max_at_once_);
      },
      take);
  std::vector<std::string> notes;
  for (int64_t example = 0; example < count(); ++example) {
    batches.add(static_cast<size_t>(example),
                at(example, [&] { return reader_.sample(corpus_[example].input, dtype, notes); }));
  }
  batches.finish();
}

std::vector<std::string> HeadExamples::notes() const {
  if (notes_of_inputs_.empty()) return {};
  return {fmt::format("{} of {} {}: {}", notes_of_inputs_.size(), count(), kind(),
                      notes_of_inputs_[0])};
}

}  // namespace whyformer
