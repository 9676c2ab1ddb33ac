#include "models/onnx_probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "onnx/node_scope.h"
#include "onnx/rewrites/rewrite.h"
#include "whyformer/error.h"
#include "whyformer/lengths.h"

namespace whyformer {
namespace {

constexpr int64_t kTokens = 8;  // of the first sequence; every other gets a length of its own
constexpr int64_t kPixels = 224;
constexpr int64_t kChannels = 3;

bool has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

bool is_past(const onnx::DeclaredValue& input) {
  return has(input.name, "past") || has(input.name, "cache");
}

// What an input is about: "decoder_" of decoder_input_ids and decoder_attention_mask.
std::string subject(std::string_view name) {
  for (const std::string_view end :
       {"input_ids", "attention_mask", "token_type_ids", "position_ids", "inputs_embeds", "embeds",
        "feats", "pos", "hidden_states", "input_features", "pixel_values", "pixel_mask", "ids",
        "mask"}) {
    if (name.ends_with(end)) return std::string(name.substr(0, name.size() - end.size()));
  }
  return std::string(name);
}

// Lengths for axes of any length. Sequences of different subjects differ, so that their axes cannot
// be confused; a mask goes with its ids, and axes that the file gives the same name are alike.
class Lengths {
 public:
  Lengths(const onnx::OnnxFile& file, const Config& config,
          const std::map<std::string, Shape, std::less<>>& given)
      : given_(given),
        pixels_(config.size_or("image_size", kPixels)),
        channels_(config.size_or("num_channels", kChannels)),
        mel_bins_(config.size_or("num_mel_bins", -1)),
        frames_(2 * config.size_or("max_source_positions", -1)) {
    for (const onnx::DeclaredValue& input : file.graph.inputs) {
      if (is_sequence(input) && input.shape[1] >= 0)
        by_subject_[subject(input.name)] = input.shape[1];
      if (const auto told = given.find(input.name); told != given.end())
        take_over(input, told->second);
    }
    // Where a name stands for several axes, what says most about it goes first: a mask is as large
    // as its picture, positions and caches as long as their tokens.
    for (const auto comes_now : {is_picture, is_sequence, is_any}) {
      for (const onnx::DeclaredValue& input : file.graph.inputs) {
        if (comes_now(input) && !shapes_.contains(input.name)) shapes_[input.name] = chosen(input);
      }
    }
  }

  Shape of(const onnx::DeclaredValue& input) const { return shapes_.at(input.name); }

 private:
  Shape chosen(const onnx::DeclaredValue& input) {
    if (const auto found = given_.find(input.name); found != given_.end()) return found->second;
    Shape shape;
    for (size_t axis = 0; axis < input.shape.size(); ++axis) {
      int64_t length = input.shape[axis];
      const std::string name = axis_name(input, axis);
      if (length < 0) length = length_by_name(name);
      if (length < 0) {
        length = length_by_role(input, axis);
        if (length >= 0 && !name.empty()) by_role_[name] = length;
      }
      if (length < 0) length = sequence(input, axis);
      shape.push_back(length);
    }
    return shape;
  }

  static bool is_picture(const onnx::DeclaredValue& input) {
    return onnx::is_float(input.type) && input.shape.size() == 4 && !is_past(input);
  }
  static bool is_any(const onnx::DeclaredValue&) { return true; }

  static std::string axis_name(const onnx::DeclaredValue& input, size_t axis) {
    return axis < input.axis_names.size() ? input.axis_names[axis] : "";
  }

  // -1 where nothing is known about the name.
  int64_t length_by_name(const std::string& name) const {
    for (const auto* lengths : {&by_name_, &by_role_}) {
      const auto known = lengths->find(name);
      if (!name.empty() && known != lengths->end()) return known->second;
    }
    return -1;
  }

  // -1 for sequences.
  int64_t length_by_role(const onnx::DeclaredValue& input, size_t axis) const {
    if (axis == 0) return is_one_with_tokens_first(input) ? -1 : 1;
    if (is_picture(input)) return axis == 1 ? channels_ : pixels_;
    if (input.name == "input_features" && frames_ > 0)
      return axis == 1 ? mel_bins_ : frames_;  // sound as a spectrum
    return is_past(input) ? 0 : -1;
  }

  // Vectors [tokens, 1, width].
  static bool is_one_with_tokens_first(const onnx::DeclaredValue& input) {
    return input.shape.size() == 3 && input.shape[1] == 1 && onnx::is_float(input.type) &&
           !is_past(input);
  }

  static bool is_sequence(const onnx::DeclaredValue& input) {
    return input.shape.size() >= 2 && input.shape.size() <= 3 && !is_past(input);
  }

  // Lengths that are told for one input hold for axes of the same name and subject.
  void take_over(const onnx::DeclaredValue& input, const Shape& told) {
    for (size_t axis = 0; axis < told.size() && axis < input.axis_names.size(); ++axis) {
      if (!input.axis_names[axis].empty()) by_name_[input.axis_names[axis]] = told[axis];
    }
    if (is_sequence(input) && told.size() >= 2) by_subject_[subject(input.name)] = told[1];
  }

  int64_t sequence(const onnx::DeclaredValue& input, size_t axis) {
    const std::string name = axis_name(input, axis);
    int64_t length = kTokens + static_cast<int64_t>(by_name_.size() + by_subject_.size());
    if (axis == 1) length = by_subject_.try_emplace(subject(input.name), length).first->second;
    if (!name.empty()) by_name_[name] = length;
    return length;
  }

  const std::map<std::string, Shape, std::less<>>& given_;
  const int64_t pixels_, channels_, mel_bins_, frames_;
  std::map<std::string, int64_t> by_name_, by_subject_;
  std::map<std::string, int64_t>
      by_role_;  // by name too, but no sequences, whose lengths differ from each other
  std::map<std::string, Shape, std::less<>> shapes_;
};

// Masks show everything, flags are off, positions count, caches are empty; the rest is explained.
onnx::InputBinding binding_for(const onnx::DeclaredValue& input, const Shape& shape) {
  onnx::InputBinding binding{shape, std::nullopt, InputRole::kExplained};
  const auto filled = [&](double value) {
    Tensor tensor = Tensor::empty(shape, onnx::held_as(input.type, DType::kFloat32));
    tensor.fill(value);
    return tensor;
  };
  if (has(input.name, "mask")) {
    binding.value = filled(1);
  } else if (input.type == onnx::ElementType::kBool || is_past(input)) {
    binding.value = filled(0);
  } else if (has(input.name, "position") && !onnx::is_float(input.type)) {
    Tensor positions = filled(0);
    const int64_t length = shape.empty() ? 1 : std::max<int64_t>(shape.back(), 1);
    for (int64_t i = 0; i < positions.size(); ++i) {
      positions.mutable_data<int64_t>()[i] = i % length;
    }
    binding.value = positions;
  } else if (has(input.name, "type") || has(input.name, "segment")) {
    binding.role = InputRole::kGiven;
  }
  return binding;
}

std::string shapes_text(const std::map<std::string, Shape, std::less<>>& shapes) {
  std::string text;
  for (const auto& [name, shape] : shapes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, to_string(shape));
  }
  return text;
}

// The first whose lengths are not all in the file.
std::string open_input(const onnx::OnnxFile& file) {
  const auto is_open = [](const onnx::DeclaredValue& input) {
    return std::ranges::any_of(input.shape, [](int64_t n) { return n < 0; });
  };
  const auto found = std::ranges::find_if(file.graph.inputs, is_open);
  return found == file.graph.inputs.end() ? "" : found->name;
}

// Whether other lengths are no way out.
bool are_as_the_file_says(const onnx::OnnxFile& file,
                          const std::map<std::string, Shape, std::less<>>& shapes) {
  return std::all_of(
      file.graph.inputs.begin(), file.graph.inputs.end(),
      [&](const onnx::DeclaredValue& input) { return input.shape == shapes.at(input.name); });
}

onnx::BuiltGraph build(const onnx::OnnxModel& model, const onnx::BuildRequest& request,
                       const std::map<std::string, Shape, std::less<>>& shapes) {
  try {
    return model.build(request);
  } catch (const onnx::NeedsValue&) {
    throw;
  } catch (const onnx::FaultyFile& error) {
    throw InvalidInput(fmt::format("the ONNX file cannot be built into a graph: {}", error.what()));
  } catch (const InvalidInput& error) {
    if (are_as_the_file_says(model.file(), shapes)) {
      throw InvalidInput(
          fmt::format("the ONNX file cannot be built into a graph: {}", error.what()));
    }
    throw LengthsDoNotFit(fmt::format("the ONNX file does not take inputs of {}: {}",
                                      shapes_text(shapes), error.what()),
                          open_input(model.file()));
  }
}

// How many inputs the file takes at once: some have the number written into them.
int64_t batch_of(const OnnxProbe& probe) {
  for (const bool found : {true, false}) {
    for (const onnx::DeclaredValue& input : probe.file.graph.inputs) {
      const Shape& shape = probe.shapes.at(input.name);
      if (shape.size() < 2 || is_past(input) || shape[0] <= 0 ||
          probe.batches.contains(input.name) != found)
        continue;
      return batch_length(shape, probe.batch_axis(input.name));
    }
  }
  return 1;
}

// "[n, 3]", as the file declares it.
std::string declared_shape(const onnx::DeclaredValue& input) {
  std::vector<std::string> axes;
  for (size_t axis = 0; axis < input.shape.size(); ++axis) {
    const bool named = axis < input.axis_names.size() && !input.axis_names[axis].empty();
    axes.push_back(input.shape[axis] >= 0 ? fmt::format("{}", input.shape[axis])
                   : named                ? input.axis_names[axis]
                                          : "?");
  }
  return fmt::format("[{}]", fmt::join(axes, ", "));
}

// A file may leave the shape out, which looks like no axes at all.
void check_rank(const onnx::DeclaredValue& input, const Shape& shape) {
  if (input.shape.empty() || input.shape.size() == shape.size()) return;
  throw InvalidInput(fmt::format("the input '{}' takes {} axes, {}, but what was given has {}: {}",
                                 input.name, input.shape.size(), declared_shape(input),
                                 shape.size(), to_string(shape)));
}

void check_names(const onnx::OnnxFile& file,
                 const std::map<std::string, Shape, std::less<>>& shapes) {
  for (const auto& [name, shape] : shapes) {
    const auto same = [&](const onnx::DeclaredValue& input) { return input.name == name; };
    const auto found = std::ranges::find_if(file.graph.inputs, same);
    if (found != file.graph.inputs.end()) {
      check_rank(*found, shape);
      continue;
    }
    std::string names;
    for (const onnx::DeclaredValue& input : file.graph.inputs) {
      names += (names.empty() ? "" : ", ") + input.name;
    }
    throw InvalidInput(
        fmt::format("the ONNX file has no input '{}'; its inputs are {}", name, names));
  }
}

OnnxProbe finished_probe(const onnx::OnnxModel& model, const onnx::BuildRequest& request,
                         std::map<std::string, Shape, std::less<>> shapes, onnx::BuiltGraph built,
                         const BatchAxes& batch_axes) {
  OnnxProbe probe;
  probe.file = model.file();
  probe.shapes = std::move(shapes);
  probe.batches = find_batches(built);
  tell_batches(built, batch_axes, probe.batches);
  probe.batch = batch_of(probe);
  built = with_batch_in_front(std::move(built), probe.batches);
  std::vector<Value> wanted;
  for (const std::string& name : request.outputs) wanted.push_back(built.values.at(name));
  const auto share = [&](const Tensor& weight, const Tensor& bias) {
    return model.linear_weights(weight, bias);
  };
  onnx::Rewritten rewritten = onnx::rewrite(built.graph, wanted, probe.batch, share);
  for (const std::string& name : request.outputs) {
    probe.outputs[name] = rewritten.new_value[built.values.at(name).id];
  }
  for (const auto& [name, value] : built.inputs) probe.inputs[name] = rewritten.new_value[value.id];
  probe.graph = std::move(rewritten.graph);
  const std::string main = main_output_of(model.file());
  probe.main_output = probe.outputs.contains(main) ? main : request.outputs[0];
  probe.found = discover(probe.graph, probe.outputs.at(probe.main_output), probe.batch);
  return probe;
}

OnnxProbe built_probe(const onnx::OnnxModel& model, const onnx::BuildRequest& request,
                      const std::map<std::string, Shape, std::less<>>& shapes,
                      const BatchAxes& batch_axes) {
  return finished_probe(model, request, shapes, build(model, request, shapes), batch_axes);
}

// Inputs bound by role, at the lengths wanted.
onnx::BuildRequest request_for(const onnx::OnnxFile& file, const Config& config,
                               const std::map<std::string, Shape, std::less<>>& wanted,
                               std::map<std::string, Shape, std::less<>>& shapes) {
  if (file.graph.outputs.empty()) throw UnsupportedModel("the ONNX file has no outputs");
  check_names(file, wanted);
  onnx::BuildRequest request;
  Lengths lengths(file, config, wanted);
  for (const onnx::DeclaredValue& input : file.graph.inputs) {
    shapes[input.name] = lengths.of(input);
    request.inputs[input.name] = binding_for(input, shapes[input.name]);
  }
  for (const onnx::DeclaredValue& output : file.graph.outputs)
    request.outputs.push_back(output.name);
  return request;
}

// Whether the inputs that are not in `wanted` have their tokens in front of the batch, at these
// lengths.
bool have_tokens_first(const onnx::OnnxModel& model, const Config& config,
                       const std::map<std::string, Shape, std::less<>>& lengths,
                       const std::map<std::string, Shape, std::less<>>& wanted) {
  std::map<std::string, Shape, std::less<>> used;
  try {
    const onnx::BuiltGraph built = model.build(request_for(model.file(), config, lengths, used));
    return std::all_of(lengths.begin(), lengths.end(), [&](const auto& one) {
      return wanted.contains(one.first) ||
             has_tokens_first(built.graph, built.inputs.at(one.first));
    });
  } catch (const Error&) {
    return false;  // the file does not take these lengths
  }
}

// The lengths of inputs that turn out to have their tokens in front of the batch; nothing where
// none has.
std::optional<std::map<std::string, Shape, std::less<>>> lengths_of_tokens_first(
    const onnx::OnnxModel& model, const Config& config, const onnx::BuiltGraph& built,
    const std::map<std::string, Shape, std::less<>>& wanted,
    const std::map<std::string, Shape, std::less<>>& used, const BatchAxes& batch_axes) {
  std::map<std::string, Shape, std::less<>> lengths = wanted;
  for (const onnx::DeclaredValue& input : model.file().graph.inputs) {
    const bool open = input.shape.size() >= 2 && input.shape[0] < 0 && input.shape[1] < 0 &&
                      !wanted.contains(input.name);
    const auto value = built.inputs.find(input.name);
    const auto told = batch_axes.find(input.name);
    const bool told_otherwise = told != batch_axes.end() && told->second != 1;
    if (!open || told_otherwise || value == built.inputs.end() ||
        !may_have_tokens_first(built.graph, value->second))
      continue;
    Shape& shape = lengths[input.name] = used.at(input.name);
    std::swap(shape[0], shape[1]);
  }
  if (lengths.size() == wanted.size()) return std::nullopt;
  // Some files know a few positions only.
  for (int halved = 0; halved < 3; ++halved) {
    if (have_tokens_first(model, config, lengths, wanted)) return lengths;
    for (auto& [name, shape] : lengths) shape[0] = wanted.contains(name) ? shape[0] : shape[0] / 2;
  }
  return std::nullopt;
}

}  // namespace

OnnxProbe probe_onnx(const OnnxDocument& document,
                     const std::map<std::string, Shape, std::less<>>& shapes,
                     const BatchAxes& batch_axes) {
  const onnx::OnnxModel& model = *document.model;
  const Config config = document.config();
  std::map<std::string, Shape, std::less<>> used;
  onnx::BuildRequest request = request_for(model.file(), config, shapes, used);
  onnx::BuiltGraph built = build(model, request, used);
  if (const auto lengths =
          lengths_of_tokens_first(model, config, built, shapes, used, batch_axes)) {
    request = request_for(model.file(), config, *lengths, used);
    built = build(model, request, used);
  }
  return finished_probe(model, request, std::move(used), std::move(built), batch_axes);
}

OnnxProbe probe_onnx(const onnx::OnnxModel& model, const Config& config,
                     const std::map<std::string, Tensor, std::less<>>& given,
                     const OnnxProbeRequest& asked) {
  std::map<std::string, Shape, std::less<>> wanted, used;
  for (const auto& [name, tensor] : given) wanted[name] = tensor.shape();
  onnx::BuildRequest request = request_for(model.file(), config, wanted, used);
  request.floats = asked.floats;
  if (!asked.outputs.empty()) request.outputs = asked.outputs;
  for (const auto& [name, tensor] : given) {
    onnx::InputBinding& binding = request.inputs.at(name);
    if (binding.value) binding.value = tensor;
  }
  for (const onnx::DeclaredValue& input : model.file().graph.inputs) {
    std::optional<Tensor>& value = request.inputs.at(input.name).value;
    if (value) value = value->cast(onnx::held_as(input.type, asked.floats));
  }
  try {
    return built_probe(model, request, used, asked.batch_axes);
  } catch (const onnx::NeedsValue&) {
    for (const onnx::DeclaredValue& input : model.file().graph.inputs) {
      const auto found = given.find(input.name);
      if (found != given.end() && !onnx::is_float(input.type)) {
        request.inputs.at(input.name).value =
            found->second.cast(onnx::held_as(input.type, asked.floats));
      }
    }
    return built_probe(model, request, used, asked.batch_axes);
  }
}

bool is_bound_by_value(const onnx::DeclaredValue& input) {
  return binding_for(input, {}).value.has_value();
}

// Logits, if the file has them, else its first output.
std::string main_output_of(const onnx::OnnxFile& file) {
  for (const onnx::DeclaredValue& output : file.graph.outputs) {
    if (has(output.name, "logits")) return output.name;
  }
  return file.graph.outputs[0].name;
}

}  // namespace whyformer
