#include "readers/sample_concept_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "discovery/block_outputs.h"
#include "run/labels.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The first axis of what tells inputs of different sizes apart: tokens of a text.
int64_t length_of(const Sample& sample) {
  int64_t length = 0;
  for (const auto& [name, tensor] : sample) length = std::max(length, tensor.dim(0));
  return length;
}

}  // namespace

SampleConceptInputs::SampleConceptInputs(const Reader& reader, std::vector<InputValue> inputs,
                                         DType dtype, BlockChoice choice)
    : reader_(reader), inputs_(std::move(inputs)), dtype_(dtype), choice_(choice) {
  if (const auto fixed = reader.fixed_shapes()) {
    shapes_[0] = *fixed;
    return;
  }
  for (const InputValue& input : inputs_) {
    samples_.push_back(reader_.sample(input, dtype_, notes_));
    SampleShapes shapes;
    for (const auto& [name, tensor] : samples_.back()) shapes[name] = tensor.shape();
    const auto [known, added] = shapes_.try_emplace(length_of(samples_.back()), shapes);
    if (known->second == shapes) continue;
    throw InvalidInput(fmt::format(
        "concept tests need {} of one size, but the model takes them in several: fix the size "
        "where they are prepared (for pictures, a centre crop in preprocessor_config.json)",
        reader.what()));
  }
}

int64_t SampleConceptInputs::length(int64_t example) const {
  return samples_.empty() ? 0 : length_of(samples_[example]);
}

Sample SampleConceptInputs::sample(int64_t example) const {
  return samples_.empty() ? reader_.sample(inputs_[example], dtype_, notes_) : samples_[example];
}

BlockGraph SampleConceptInputs::graph(int64_t length, int64_t examples, LastBlock last) const {
  const GraphSource& source = reader_.source();
  const auto built = source.graph({.batch = examples,
                                   .shapes = shapes_.at(length),
                                   .head = source.own_head(),
                                   .dtype = dtype_,
                                   .all_rows = last == LastBlock::kAllRows,
                                   .randomisation = choice_.randomisation});
  std::vector<Value> blocks = block_outputs(built->graph, built->found, built->output);
  if (choice_.embeddings && built->embeddings.valid()) {
    blocks.insert(blocks.begin(), built->embeddings);
  }
  return {built, &built->graph, std::move(blocks), built->output};
}

Feeds SampleConceptInputs::feeds(const BlockGraph& graph, std::span<const int64_t> examples) const {
  std::vector<Sample> samples;
  for (const int64_t example : examples) samples.push_back(sample(example));
  return reader_.source().feeds(*std::static_pointer_cast<const ModelGraph>(graph.owner), samples);
}

namespace {

// All examples in a row.
struct SampleList {
  ExampleRange add(const std::string& name, const std::vector<InputValue>& inputs) {
    const ExampleRange range{name, static_cast<int64_t>(all.size()),
                             static_cast<int64_t>(inputs.size())};
    all.insert(all.end(), inputs.begin(), inputs.end());
    return range;
  }

  std::vector<InputValue> all;
};

}  // namespace

ListedConcepts listed_samples(const Reader& reader, const GivenConcepts& sets, DType dtype) {
  const std::vector<std::string> labels = reader.answered(sets.targets[0].inputs[0], {}).labels;
  const auto target = [&](const std::string& label) {
    const int64_t output = label_index(labels, label, "target");
    return std::pair(labels[output], output);
  };
  SampleList list;
  ListedConcepts listed{
      .inputs = nullptr, .examples = whyformer::listed(list, sets, target), .unit = reader.what()};
  listed.inputs = std::make_unique<SampleConceptInputs>(reader, std::move(list.all), dtype);
  return listed;
}

}  // namespace whyformer
