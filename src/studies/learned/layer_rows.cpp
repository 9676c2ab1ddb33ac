#include "studies/learned/layer_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/code_points.h"
#include "readers/sample_concept_inputs.h"
#include "studies/concepts/activations.h"
#include "studies/heads/roles/arc_counts.h"
#include "studies/heads/roles/unit_facts.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

void add_words(const Reader& reader, const LearnedExample& example, int64_t input,
               RowOrigins& origins) {
  const Reading reading = reader.read(example.input, {.needs_answer = false});
  const Part& part = *reading.inputs[0].parts()[0];
  const PartText* text = part.as_text();
  if (text == nullptr) {
    throw InvalidInput(
        fmt::format("{}: words have labels, but the input is no text", example.place));
  }
  DependencyTree places;
  for (const LabelledWord& word : example.words) places.push_back({word.start, word.end});
  const auto units = units_of_words(part.units(), places);
  for (size_t i = 0; i < units.size(); ++i) {
    if (units[i].empty()) {
      ++origins.words_left_out;
      continue;
    }
    const LabelledWord& word = example.words[i];
    origins.rows.push_back({input, word.label,
                            lowered_word(code_points(text->text().text, word.start, word.end)),
                            units[i]});
  }
}

// The mean of some tokens of [tokens · width] numbers.
void write_mean(std::span<const float> numbers, const std::vector<int64_t>& units, int64_t width,
                float* into) {
  for (int64_t i = 0; i < width; ++i) {
    double sum = 0;
    for (const int64_t unit : units) sum += numbers[unit * width + i];
    into[i] = static_cast<float>(sum / static_cast<double>(units.size()));
  }
}

void choose_probed_layers(const std::vector<int>& asked, int64_t values, bool embeddings,
                          LayerRows& into) {
  const int blocks = static_cast<int>(values) - embeddings;
  if (embeddings) into.layers.push_back(-1);
  for (const int layer : asked) {
    if (layer >= 0 && layer < blocks) continue;
    throw InvalidInput(
        fmt::format("there is no layer {}: the model has {}, from 0", layer, blocks));
  }
  for (int layer = 0; layer < blocks; ++layer) {
    const bool wanted =
        asked.empty() || std::find(asked.begin(), asked.end(), layer) != asked.end();
    if (wanted) into.layers.push_back(layer);
  }
}

}  // namespace

RowOrigins row_origins(const Reader& reader, const std::vector<LearnedExample>& examples,
                       const std::function<void()>& advance) {
  RowOrigins origins;
  const bool of_words = !examples.empty() && !examples[0].words.empty();
  for (size_t input = 0; input < examples.size(); ++input) {
    advance();
    const LearnedExample& example = examples[input];
    if (of_words != !example.words.empty()) {
      throw InvalidInput(fmt::format(
          "{}: either all inputs have a label, or all have labelled words", example.place));
    }
    if (of_words) {
      add_words(reader, example, static_cast<int64_t>(input), origins);
    } else if (example.label.empty()) {
      throw InvalidInput(fmt::format("{}: there is no label to learn", example.place));
    } else {
      origins.rows.push_back({static_cast<int64_t>(input), example.label});
    }
  }
  return origins;
}

LayerRows layer_rows(const Reader& reader, const std::vector<LearnedExample>& examples,
                     const std::vector<RowOrigin>& rows, const LayerRowsRequest& request) {
  std::vector<InputValue> values;
  for (const LearnedExample& example : examples) values.push_back(example.input);
  const SampleConceptInputs inputs(reader, std::move(values), request.dtype,
                                   {.embeddings = true, .randomisation = request.randomisation});
  const SampleConceptInputs blocks_alone(reader, {examples[0].input}, request.dtype);
  const BlockGraph graph = inputs.graph(inputs.length(0), 1, LastBlock::kReadRows);
  const size_t blocks =
      blocks_alone.graph(blocks_alone.length(0), 1, LastBlock::kReadRows).blocks.size();
  const bool embeddings = graph.blocks.size() > blocks;
  LayerRows found;
  choose_probed_layers(request.layers, static_cast<int64_t>(graph.blocks.size()), embeddings,
                       found);
  found.width = graph.graph->shape(graph.blocks[0]).back();
  std::vector<std::vector<int64_t>> rows_of_input(examples.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    rows_of_input[rows[row].input].push_back(static_cast<int64_t>(row));
  }
  RowRequest wanted{.rows = rows[0].units.empty() ? request.rows : TokenRows::kAll,
                    .done = request.done};
  for (const int layer : found.layers) {
    wanted.layers.push_back(layer + embeddings);
    if (graph.graph->shape(graph.blocks[layer + embeddings]).back() != found.width) {
      throw UnsupportedModel("probes need layers of one width, and this model's differ");
    }
    found.floats.emplace_back(rows.size() * static_cast<size_t>(found.width));
  }
  wanted.take = [&](int64_t example, size_t slot, std::span<const float> numbers) {
    for (const int64_t row : rows_of_input[example]) {
      float* into = found.floats[slot].data() + row * found.width;
      if (rows[row].units.empty()) {
        if (static_cast<int64_t>(numbers.size()) != found.width) {
          throw InvalidInput(
              "a probe of whole inputs takes the first token, the last, or the mean over tokens");
        }
        std::copy(numbers.begin(), numbers.end(), into);
      } else {
        write_mean(numbers, rows[row].units, found.width, into);
      }
    }
  };
  std::vector<int64_t> order(examples.size());
  std::iota(order.begin(), order.end(), 0);
  take_activations(inputs, order, wanted);
  return found;
}

}  // namespace whyformer
