#include "readers/array_concept_inputs.h"

#include <fmt/format.h>

#include <charconv>

#include "discovery/block_outputs.h"
#include "models/onnx_probe.h"
#include "tensor/check_size.h"
#include "whyformer/error.h"

namespace whyformer {

int64_t example_count(const NamedArrays& arrays, const std::string& name) {
  if (arrays.empty()) throw InvalidInput(fmt::format("'{}' holds no arrays", name));
  int64_t count = -1;
  for (const auto& [input, array] : arrays) {
    if (array.rank() == 0 || (count >= 0 && array.dim(0) != count)) {
      throw InvalidInput(fmt::format(
          "'{}': the first axis of each array counts the examples, but '{}' has the shape {}", name,
          input, to_string(array.shape())));
    }
    count = array.dim(0);
  }
  return count;
}

NamedArrays joined(const std::vector<NamedArrays>& parts, const std::vector<std::string>& names) {
  NamedArrays all;
  for (const auto& [input, first] : parts[0]) {
    Shape shape = first.shape();
    shape[0] = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto found = parts[i].find(input);
      if (found == parts[i].end() || parts[i].size() != parts[0].size()) {
        throw InvalidInput(
            fmt::format("'{}' and '{}' do not hold arrays of the same names", names[0], names[i]));
      }
      Shape other = found->second.shape();
      shape[0] += other[0];
      other[0] = shape[0];
      if (other != shape || found->second.dtype() != first.dtype()) {
        throw InvalidInput(fmt::format("the array '{}' has the shape {} in '{}' but {} in '{}'",
                                       input, to_string(first.shape()), names[0],
                                       to_string(found->second.shape()), names[i]));
      }
    }
    check_size(shape);
    Tensor whole = Tensor::empty(shape, first.dtype());
    int64_t at = 0;
    for (const NamedArrays& part : parts) {
      const Tensor& array = part.at(input);
      whole.slice(0, at, array.dim(0)).copy_from(array);
      at += array.dim(0);
    }
    all[input] = whole;
  }
  return all;
}

namespace {

// All examples in a row.
struct ArrayList {
  ExampleRange add(const std::string& name, const std::vector<InputValue>& inputs) {
    const int64_t first = count;
    for (const InputValue& input : inputs) {
      names.push_back(name);
      parts.push_back(tensors_of(std::get<ArrayViews>(input)));
      for (auto& [input_name, array] : parts.back()) {
        if (array.dtype() == DType::kFloat64) {
          array = array.cast(DType::kFloat32);  // as all of the study is
        }
      }
      count += example_count(parts.back(), name);
    }
    return {name, first, count - first};
  }

  std::vector<NamedArrays> parts;
  std::vector<std::string> names;
  int64_t count = 0;
};

int64_t output_number(const std::string& label) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
  if (error != std::errc() || end != label.data() + label.size() || number < 0) {
    throw InvalidInput(fmt::format("there is no output {}", label));
  }
  return number;
}

}  // namespace

ArrayConceptInputs::ArrayConceptInputs(const OnnxArrays& file, NamedArrays arrays)
    : file_(file), arrays_(std::move(arrays)), count_(example_count(arrays_, "arrays")) {}

BlockGraph ArrayConceptInputs::graph(int64_t, int64_t examples, LastBlock) const {
  const auto known = built_.find(examples);
  if (known != built_.end()) return known->second;
  NamedArrays some;
  for (const auto& [name, array] : arrays_) some[name] = array.slice(0, 0, examples).contiguous();
  const auto probe = file_.probe(some, {});
  for (const auto& [name, place] : probe->batches) {
    if (place.axis == BatchAxis::kFirst) continue;
    throw UnsupportedModel(fmt::format(
        "the input '{}' does not have its batch in front, so examples cannot be told apart there",
        name));
  }
  const Value output = probe->outputs.at(probe->main_output);
  BlockGraph built{probe, &probe->graph, block_outputs(probe->graph, probe->found, output), output};
  return built_.emplace(examples, std::move(built)).first->second;
}

Feeds ArrayConceptInputs::feeds(const BlockGraph& graph, std::span<const int64_t> examples) const {
  const auto probe = std::static_pointer_cast<const OnnxProbe>(graph.owner);
  Feeds feeds;
  for (const auto& [name, value] : probe->inputs) {
    const auto given = arrays_.find(name);
    if (given == arrays_.end()) {
      throw InvalidInput(fmt::format("there is no array for the model's input '{}'", name));
    }
    const Tensor array = given->second.cast(graph.graph->type(value).dtype);
    Tensor rows = Tensor::empty(graph.graph->shape(value), array.dtype());
    for (size_t i = 0; i < examples.size(); ++i) {
      rows.slice(0, static_cast<int64_t>(i), 1).copy_from(array.slice(0, examples[i], 1));
    }
    feeds[value] = rows;
  }
  return feeds;
}

ListedConcepts listed_arrays(const OnnxArrays& file, const GivenConcepts& sets) {
  const auto target = [](const std::string& label) {
    const int64_t output = output_number(label);
    return std::pair(fmt::format("output {}", output), output);
  };
  ArrayList list;
  ListedConcepts listed{
      .inputs = nullptr, .examples = whyformer::listed(list, sets, target), .unit = "rows"};
  if (list.count == 0) throw InvalidInput("there are no examples");
  listed.inputs = std::make_unique<ArrayConceptInputs>(file, joined(list.parts, list.names));
  return listed;
}

}  // namespace whyformer
