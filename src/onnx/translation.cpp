#include "onnx/translation.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/file_checks.h"
#include "onnx/check_memory.h"
#include "onnx/operators.h"
#include "onnx/sort_nodes.h"

namespace whyformer::onnx {
namespace {

constexpr int kDeepest = 64;  // functions that call functions, branches in branches
// A small file can ask for any number of nodes by functions that call functions twice.
constexpr int kMostNodes = 1'000'000;
constexpr int64_t kMostKnown = int64_t{1}
                               << 31;  // elements that are computed while a graph is built

// Which of the nodes the wanted names need.
std::vector<bool> needed_nodes(const std::vector<OnnxNode>& nodes,
                               const std::vector<std::string>& wanted) {
  std::set<std::string> names(wanted.begin(), wanted.end());
  std::vector<bool> needed(nodes.size(), false);
  for (size_t index = nodes.size(); index-- > 0;) {
    for (const std::string& output : nodes[index].outputs) {
      needed[index] = needed[index] || (!output.empty() && names.contains(output));
    }
    if (!needed[index]) continue;
    for (std::string& name : names_read(nodes[index])) names.insert(std::move(name));
  }
  return needed;
}

// The message, with the name of the node if it is not in it already; names are the file's and may
// hold anything.
std::string with_node(const OnnxNode& node, std::string why) {
  const std::string title = in_quotes(node.title()), raw = "'" + node.title() + "'";
  if (const size_t at = why.find(raw); at != why.npos) return why.replace(at, raw.size(), title);
  if (why.find("'" + node.title()) != why.npos || why.find(title) != why.npos) return why;
  const bool known = find_operator(node.domain, node.kind) != nullptr;
  return fmt::format("{} {}: {}", known ? node.kind : in_quotes(node.kind), title, why);
}

}  // namespace

Translation::Translation(const OnnxModel& model, const BuildRequest& request)
    : model_(model), request_(request) {}

BuiltGraph Translation::build() {
  const OnnxFile& file = model_.file();
  Names names{.graph = &file.graph, .opsets = &file.opsets, .values = {}};
  bind_inputs(names);
  translate_all(file.graph.nodes, request_.outputs, names);
  BuiltGraph built;
  for (const std::string& output : request_.outputs) {
    const Value value = value_of(output, names, output);
    if (!value.valid())
      throw FaultyFile(fmt::format("output {} is not computed", in_quotes(output)));
    built.values[output] = value;
  }
  for (const auto& [name, value] : names.values) {
    if (value.valid()) built.values[name] = value;
  }
  built.inputs = inputs_;
  built.graph = graph_.finish();
  check_memory(built.graph, file);
  return built;
}

void Translation::bind_inputs(Names& names) {
  for (const DeclaredValue& input : model_.file().graph.inputs) {
    const auto found = request_.inputs.find(input.name);
    if (found == request_.inputs.end()) continue;  // an error only if something reads it
    const InputBinding& binding = found->second;
    const DType held = held_as(input.type, floats());
    Value value;
    if (binding.value) {
      value = graph_.constant(binding.value->cast(held), input.name);
    } else {
      value = graph_.input(input.name, binding.shape, held, binding.role);
      inputs_[input.name] = value;
    }
    set_element(value, input.type);
    names.values[input.name] = value;
  }
}

Value Translation::value_of(const std::string& name, Names& names, const std::string& reader) {
  for (const Names* scope = &names; scope != nullptr; scope = scope->outer) {
    const auto found = scope->values.find(name);
    if (found != scope->values.end()) return found->second;
    if (scope->graph != nullptr && scope->graph->initialisers.contains(name)) {
      const Value value = initialiser(name, *scope->graph);
      const_cast<Names*>(scope)->values[name] = value;
      return value;
    }
  }
  throw FaultyFile(fmt::format("node {} reads {}, which is neither computed nor given",
                               in_quotes(reader), in_quotes(name)));
}

Value Translation::initialiser(const std::string& name, const FileGraph& graph) {
  const FileTensor& stored = graph.initialisers.at(name);
  const bool whole_graph = &graph == &model_.file().graph;
  const bool narrow = whole_graph && floats() == DType::kFloat32 && model_.narrow_.contains(name);
  Tensor tensor;
  if (whole_graph) {
    const std::lock_guard lock(model_.mutex_);
    const auto shared = model_.shared_.find({name, floats()});
    if (shared != model_.shared_.end()) {
      tensor = shared->second.tensor;
    } else {
      // Whoever reads bytes asks for them: what stands here is one number seen as many, by which
      // they are known.
      tensor = narrow ? Tensor::zeros({}, floats()).expand(stored.shape) : stored.tensor(floats());
      model_.keep(name, floats(), {tensor, stored.type});
    }
  } else {
    tensor = stored.tensor(floats());
  }
  const Value value = graph_.constant(std::move(tensor), name);
  set_element(value, stored.type);
  independent_.insert(value.id);
  if (narrow) narrow_[value.id] = &stored;
  return value;
}

const FileTensor* Translation::narrow(Value value) const {
  const auto found = narrow_.find(value.id);
  return found == narrow_.end() ? nullptr : found->second;
}

void Translation::translate_all(const std::vector<OnnxNode>& nodes,
                                const std::vector<std::string>& wanted, Names& names) {
  const std::vector<bool> needed = needed_nodes(nodes, wanted);
  for (size_t index = 0; index < nodes.size(); ++index) {
    if (needed[index]) translate(nodes[index], names);
  }
}

void Translation::translate(const OnnxNode& node, Names& names) {
  if (++translated_ > kMostNodes) {
    throw FaultyFile(
        fmt::format("its functions and branches unfold to more than {} nodes", kMostNodes));
  }
  if (!node.attribute_of_caller.empty())
    return translate(with_callers_attributes(node, names), names);
  if (take_shared(node, names)) return;
  std::vector<Value> inputs;
  for (const std::string& name : node.inputs) {
    inputs.push_back(name.empty() ? Value{} : value_of(name, names, node.title()));
  }
  std::vector<Value> outputs;
  try {
    outputs = outputs_of(node, inputs, names);
  } catch (const FaultyFile& error) {
    throw FaultyFile(with_node(node, error.what()));
  } catch (const InvalidInput& error) {
    throw InvalidInput(with_node(node, error.what()));
  }
  for (size_t index = 0; index < node.outputs.size(); ++index) {
    if (node.outputs[index].empty()) continue;
    if (index < outputs.size() && outputs[index].valid()) {
      names.values[node.outputs[index]] = outputs[index];
    }
  }
  for (const Value output : outputs) {
    const Tensor* known = output.valid() ? graph_.known(output) : nullptr;
    if (known != nullptr) known_elements_ += known->size();
  }
  if (known_elements_ > kMostKnown) {
    throw FaultyFile(fmt::format(
        "what the file computes before it is run takes more than {} numbers", kMostKnown));
  }
  share(node, inputs, outputs, names);
}

OnnxNode Translation::with_callers_attributes(const OnnxNode& node, const Names& names) {
  const Names* body = &names;
  while (body->function == nullptr && body->outer != nullptr) body = body->outer;
  OnnxNode result = node;
  result.attribute_of_caller.clear();
  if (body->function == nullptr) return result;
  for (const auto& [own, callers] : node.attribute_of_caller) {
    const auto given = body->caller->attributes.find(callers);
    const auto usual = body->function->defaults.find(callers);
    if (given != body->caller->attributes.end()) {
      result.attributes[own] = given->second;
    } else if (usual != body->function->defaults.end()) {
      result.attributes[own] = usual->second;
    }
  }
  return result;
}

// Values that do not depend on inputs were computed by an earlier graph.
bool Translation::take_shared(const OnnxNode& node, Names& names) {
  if (names.graph != &model_.file().graph) return false;
  std::vector<OnnxModel::Shared> found;
  {
    const std::lock_guard lock(model_.mutex_);
    for (const std::string& name : node.outputs) {
      const auto shared = model_.shared_.find({name, floats()});
      if (shared == model_.shared_.end()) return false;
      found.push_back(shared->second);
    }
  }
  for (size_t index = 0; index < found.size(); ++index) {
    const Value value = graph_.constant(found[index].tensor, node.outputs[index]);
    set_element(value, found[index].element);
    independent_.insert(value.id);
    names.values[node.outputs[index]] = value;
  }
  return !found.empty();
}

void Translation::share(const OnnxNode& node, const std::vector<Value>& inputs,
                        const std::vector<Value>& outputs, const Names& names) {
  for (const Value input : inputs) {
    if (!input.valid() || independent_.contains(input.id)) continue;
    // A Tile by 1, say, gives its input itself, which then stands for something that hangs on the
    // lengths.
    for (const Value output : outputs) independent_.erase(output.id);
    return;
  }
  if (node.kind == "If") return;  // may read values from around it
  for (const Value output : outputs) {
    if (output.valid()) independent_.insert(output.id);
  }
  if (names.graph != &model_.file().graph) return;
  const std::lock_guard lock(model_.mutex_);
  for (size_t index = 0; index < node.outputs.size() && index < outputs.size(); ++index) {
    if (!outputs[index].valid() || graph_.known(outputs[index]) == nullptr) continue;
    model_.keep(node.outputs[index], floats(),
                {*graph_.known(outputs[index]), element(outputs[index])});
  }
}

std::vector<Value> Translation::outputs_of(const OnnxNode& node, const std::vector<Value>& inputs,
                                           Names& names) {
  if (++depth_ > kDeepest) throw FaultyFile("functions or branches are nested too deeply");
  std::vector<Value> outputs;
  const auto function = model_.file().functions.find({node.domain, node.kind});
  if (node.kind == "If" && node.domain.empty()) {
    outputs = branch(node, inputs, names);
  } else if (const OnnxOperator* known = find_operator(node.domain, node.kind)) {
    NodeScope scope(*this, node, inputs, opset(node.domain, names));
    outputs = known->translate(scope);
    for (const Value output : outputs) {
      if (!output.valid() || elements_.contains(output.id) || !scope.has(0)) continue;
      const ElementType first = scope.element(0);
      if (held_as(first, floats()) == graph_.type(output).dtype) set_element(output, first);
    }
  } else if (function != model_.file().functions.end()) {
    outputs = call(function->second, node, inputs);
  } else {
    throw UnsupportedModel(fmt::format("operator {} cannot be imported", in_quotes(node.kind)));
  }
  --depth_;
  return outputs;
}

// Functions need not import what the file imports.
int64_t Translation::opset(const std::string& domain, const Names& names) const {
  for (const auto* opsets : {names.opsets, &model_.file().opsets}) {
    const auto found = opsets->find(domain);
    if (found != opsets->end()) return found->second;
  }
  return 1;
}

std::vector<Value> Translation::branch(const OnnxNode& node, const std::vector<Value>& inputs,
                                       Names& names) {
  if (inputs.empty() || !inputs[0].valid()) throw InvalidInput("its condition is missing");
  const Tensor* condition = graph_.known(inputs[0]);
  if (condition == nullptr) {
    throw NeedsValue(
        fmt::format("If {} chooses a branch by a value that depends on the model's inputs; "
                    "give the inputs that decide it by value when the graph is built",
                    in_quotes(node.title())));
  }
  if (condition->size() != 1) {
    throw InvalidInput(fmt::format("its condition must be one truth value but has the shape {}",
                                   to_string(condition->shape())));
  }
  const bool yes = condition->to_doubles()[0] != 0;
  const auto found = node.attributes.find(yes ? "then_branch" : "else_branch");
  if (found == node.attributes.end() ||
      !std::holds_alternative<std::shared_ptr<const FileGraph>>(found->second)) {
    throw InvalidInput("a branch is missing");
  }
  const FileGraph& chosen = *std::get<std::shared_ptr<const FileGraph>>(found->second);
  Names inner{.graph = &chosen, .outer = &names, .opsets = names.opsets, .values = {}};
  std::vector<std::string> wanted;
  for (const DeclaredValue& output : chosen.outputs) wanted.push_back(output.name);
  translate_all(chosen.nodes, wanted, inner);
  std::vector<Value> outputs;
  for (const std::string& name : wanted) outputs.push_back(value_of(name, inner, node.title()));
  return outputs;
}

std::vector<Value> Translation::call(const OnnxFunction& function, const OnnxNode& node,
                                     const std::vector<Value>& inputs) {
  if (std::find(calls_.begin(), calls_.end(), &function) != calls_.end()) {
    throw FaultyFile(fmt::format("the function {} calls itself", in_quotes(node.kind)));
  }
  if (inputs.size() > function.inputs.size()) {
    throw InvalidInput(fmt::format("{} inputs are given to a function of {}", inputs.size(),
                                   function.inputs.size()));
  }
  Names inner{.opsets = &function.opsets, .values = {}, .caller = &node, .function = &function};
  for (size_t index = 0; index < function.inputs.size(); ++index) {
    inner.values[function.inputs[index]] = index < inputs.size() ? inputs[index] : Value{};
  }
  std::vector<OnnxNode> body = function.nodes;
  for (OnnxNode& step : body) step.name = node.title() + "/" + step.title();
  calls_.push_back(&function);
  translate_all(body, function.outputs, inner);
  std::vector<Value> outputs;
  for (const std::string& name : function.outputs)
    outputs.push_back(value_of(name, inner, node.title()));
  calls_.pop_back();
  return outputs;
}

ElementType Translation::element(Value value) const {
  const auto found = elements_.find(value.id);
  if (found != elements_.end()) return found->second;
  return graph_.type(value).dtype == DType::kInt64 ? ElementType::kInt64 : ElementType::kFloat;
}

std::shared_ptr<const LinearWeights> Translation::linear_weights(const Tensor& weight,
                                                                 bool transposed,
                                                                 const Tensor& bias) {
  return model_.linear_weights(transposed ? weight : weight.transpose(0, 1), bias);
}

}  // namespace whyformer::onnx
