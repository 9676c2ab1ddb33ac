#include "onnx/onnx_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "formats/file_checks.h"
#include "onnx/narrow_weights.h"
#include "onnx/operators.h"
#include "onnx/translation.h"
#include "whyformer/error.h"

namespace whyformer::onnx {
namespace {

constexpr size_t kMostListed = 20;
constexpr int kDeepest = 32;
constexpr size_t kLongestKind = 80;

// As it is where it is a usual name; others may hold anything.
std::string shown(const std::string& kind) {
  const auto is_usual = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  };
  return kind.size() <= kLongestKind && std::all_of(kind.begin(), kind.end(), is_usual)
             ? kind
             : in_quotes(kind);
}

// Every operator of the file that has no translation, with one node that uses it.
class UnknownOperators {
 public:
  explicit UnknownOperators(const OnnxFile& file) : file_(file) {
    look_at(file.graph.nodes, 0);
    for (const auto& [key, function] : file.functions) look_at(function.nodes, 0);
  }

  void throw_if_any() const {
    if (found_.empty()) return;
    std::string list;
    size_t listed = 0;
    for (const auto& [kind, use] : found_) {
      if (listed++ == kMostListed) break;
      list += fmt::format("{}{} ({} of them, first {})", list.empty() ? "" : ", ", shown(kind),
                          use.count, in_quotes(use.first));
    }
    if (found_.size() > kMostListed)
      list += fmt::format(" and {} more", found_.size() - kMostListed);
    throw UnsupportedModel(fmt::format(
        "the ONNX file (opset {}) has operators that cannot be imported: {}", file_.opset(), list));
  }

 private:
  struct Use {
    int count = 0;
    std::string first;
  };

  void look_at(const std::vector<OnnxNode>& nodes, int depth) {
    if (depth > kDeepest) throw FileError("the ONNX file is damaged: branches nest too deeply");
    for (const OnnxNode& node : nodes) {
      const bool known = (node.kind == "If" && node.domain.empty()) ||
                         find_operator(node.domain, node.kind) != nullptr ||
                         file_.functions.contains({node.domain, node.kind});
      if (!known) {
        const std::string kind =
            node.domain.empty() ? node.kind : fmt::format("{}.{}", node.domain, node.kind);
        Use& use = found_[kind];
        if (use.count++ == 0) use.first = node.title();
      }
      for (const auto& [name, attribute] : node.attributes) {
        if (const auto* branch = std::get_if<std::shared_ptr<const FileGraph>>(&attribute)) {
          look_at((*branch)->nodes, depth + 1);
        }
      }
    }
  }

  const OnnxFile& file_;
  std::map<std::string, Use> found_;
};

const void* start(const Tensor& tensor) {
  if (!tensor.defined()) return nullptr;
  if (tensor.dtype() == DType::kInt64) return tensor.data<int64_t>();
  return tensor.dtype() == DType::kFloat32 ? static_cast<const void*>(tensor.data<float>())
                                           : tensor.data<double>();
}

}  // namespace

OnnxModel::OnnxModel(OnnxFile file) : file_(std::move(file)), narrow_(narrow_weights(file_)) {
  UnknownOperators(file_).throw_if_any();
}

void OnnxModel::keep(const std::string& name, DType floats, Shared shared) const {
  shared_memory_.insert(shared.tensor.storage().get());
  shared_[{name, floats}] = std::move(shared);
}

std::shared_ptr<const LinearWeights> OnnxModel::linear_weights(const Tensor& weight,
                                                               const Tensor& bias) const {
  const std::lock_guard lock(mutex_);
  const auto is_shared = [&](const Tensor& tensor) {
    return !tensor.defined() || shared_memory_.contains(tensor.storage().get());
  };
  if (!is_shared(weight) || !is_shared(bias)) {
    return std::make_shared<LinearWeights>(weight, bias);
  }
  auto& shared = linears_[{start(weight), weight.shape(), weight.strides(), start(bias)}];
  if (!shared) {
    shared = std::make_shared<LinearWeights>(weight, bias);
    shared_memory_.insert(shared->weight().storage().get());
  }
  return shared;
}

std::shared_ptr<const void> OnnxModel::made_once(
    const std::vector<Tensor>& from, const std::string& what,
    const std::function<std::shared_ptr<const void>()>& make) const {
  const std::lock_guard lock(mutex_);
  std::vector<const void*> key;
  for (const Tensor& tensor : from) {
    if (!shared_memory_.contains(tensor.storage().get())) return make();
    key.push_back(start(tensor));
  }
  auto& made = made_[{std::move(key), what}];
  if (!made) made = make();
  return made;
}

BuiltGraph OnnxModel::build(const BuildRequest& request) const {
  return Translation(*this, request).build();
}

}  // namespace whyformer::onnx
