#include "onnx/node_scope.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "formats/file_checks.h"
#include "onnx/translation.h"

namespace whyformer::onnx {
namespace {

// What the alternatives of Attribute are called, in their order.
constexpr const char* kKinds[] = {"an integer", "a number", "a text",   "integers",
                                  "numbers",    "texts",    "a tensor", "a graph"};
static_assert(std::size(kKinds) == std::variant_size_v<Attribute>);

// The attribute if it is there. Throws InvalidInput if it is of another kind.
template <typename T>
const T* attribute(const OnnxNode& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return nullptr;
  if (const T* value = std::get_if<T>(&found->second)) return value;
  throw InvalidInput(fmt::format("its attribute {} holds {} where {} is needed", in_quotes(name),
                                 kKinds[found->second.index()], kKinds[Attribute(T()).index()]));
}

}  // namespace

NodeScope::NodeScope(Translation& translation, const OnnxNode& node, std::vector<Value> inputs,
                     int64_t opset)
    : translation_(translation), node_(node), inputs_(std::move(inputs)), opset_(opset) {}

GraphBuilder& NodeScope::graph() { return translation_.graph(); }
DType NodeScope::floats() const { return translation_.floats(); }

Value NodeScope::input(size_t index) const {
  if (!has(index)) throw InvalidInput(fmt::format("its input {} is missing", index));
  return inputs_[index];
}

const Shape& NodeScope::shape(size_t index) { return graph().shape(input(index)); }
const Shape& NodeScope::shape(size_t index, int rank) {
  const Shape& found = shape(index);
  if (static_cast<int>(found.size()) != rank) {
    throw InvalidInput(fmt::format("its input {} must have {} axes but has the shape {}", index,
                                   rank, to_string(found)));
  }
  return found;
}
DType NodeScope::dtype(size_t index) { return graph().type(input(index)).dtype; }
ElementType NodeScope::element(size_t index) { return translation_.element(input(index)); }
const Tensor* NodeScope::known(size_t index) { return graph().known(input(index)); }

const FileTensor* NodeScope::narrow(size_t index) const {
  return has(index) ? translation_.narrow(inputs_[index]) : nullptr;
}

Value NodeScope::widened(size_t index) {
  const FileTensor* bytes = narrow(index);
  if (bytes == nullptr) return input(index);
  const Value value = constant(bytes->tensor(floats()));
  set_element(value, bytes->type);
  return value;
}

const Tensor& NodeScope::needed(size_t index) {
  const Tensor* tensor = known(index);
  if (tensor == nullptr && translation_.is_independent(input(index))) {
    fail(
        fmt::format("needs the value of its input {} when the graph is built, but that has the "
                    "shape {}, which is too large to compute then",
                    index, to_string(shape(index))));
  }
  if (tensor == nullptr) {
    throw NeedsValue(fmt::format(
        "{} {} needs the value of its input {} when the graph is built, but that depends on what "
        "the model is given",
        node_.kind, in_quotes(name()), index));
  }
  return *tensor;
}

std::vector<int64_t> NodeScope::integers(size_t index) {
  const Tensor tensor = needed(index).contiguous();
  if (tensor.dtype() == DType::kInt64) {
    return {tensor.data<int64_t>(), tensor.data<int64_t>() + tensor.size()};
  }
  std::vector<int64_t> result;
  for (const double number : tensor.to_doubles()) {
    if (!(std::abs(number) < 1e15)) throw InvalidInput(fmt::format("{} is no size", number));
    result.push_back(static_cast<int64_t>(number));
  }
  return result;
}

double NodeScope::number(size_t index) {
  const Tensor& tensor = needed(index);
  if (tensor.size() != 1) {
    throw InvalidInput(fmt::format("input {} must be one number but has the shape {}", index,
                                   to_string(tensor.shape())));
  }
  return tensor.to_doubles()[0];
}

bool NodeScope::has_attribute(std::string_view name) const {
  return node_.attributes.contains(name);
}

int64_t NodeScope::integer(std::string_view name, int64_t otherwise) const {
  const auto* value = attribute<int64_t>(node_, name);
  return value != nullptr ? *value : otherwise;
}

double NodeScope::real(std::string_view name, double otherwise) const {
  const auto* value = attribute<double>(node_, name);
  return value != nullptr ? *value : otherwise;
}

std::string NodeScope::text(std::string_view name, std::string_view otherwise) const {
  const auto* value = attribute<std::string>(node_, name);
  return value != nullptr ? *value : std::string(otherwise);
}

std::vector<int64_t> NodeScope::integer_list(std::string_view name) const {
  const auto* value = attribute<std::vector<int64_t>>(node_, name);
  return value != nullptr ? *value : std::vector<int64_t>();
}

std::vector<double> NodeScope::real_list(std::string_view name) const {
  const auto* value = attribute<std::vector<double>>(node_, name);
  return value != nullptr ? *value : std::vector<double>();
}

const FileTensor* NodeScope::stored(std::string_view name) const {
  return attribute<FileTensor>(node_, name);
}

int NodeScope::axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    throw InvalidInput(fmt::format("there is no axis {} among {} axes", axis, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::optional<std::vector<int64_t>> NodeScope::axes(size_t input_index) {
  if (has(input_index)) return integers(input_index);
  if (has_attribute("axes")) return integer_list("axes");
  return std::nullopt;
}

Value NodeScope::constant(Tensor tensor) { return graph().constant(std::move(tensor), name()); }

Value NodeScope::number_constant(double value, DType dtype) {
  Tensor tensor = Tensor::empty({}, dtype);
  tensor.fill(value);
  return constant(std::move(tensor));
}

void NodeScope::set_element(Value value, ElementType type) {
  translation_.set_element(value, type);
}

std::shared_ptr<const LinearWeights> NodeScope::linear_weights(const Tensor& weight,
                                                               bool transposed,
                                                               const Tensor& bias) {
  return translation_.linear_weights(weight, transposed, bias);
}

std::shared_ptr<const void> NodeScope::made_once_of(
    const std::vector<Tensor>& from, const std::function<std::shared_ptr<const void>()>& make) {
  return translation_.model().made_once(from, node_.kind + " " + name(), make);
}

void NodeScope::fail(const std::string& why) const {
  throw UnsupportedModel(fmt::format("{} {} {}", node_.kind, in_quotes(name()), why));
}

}  // namespace whyformer::onnx
