// What enters the model, and the shared run with something else in its place.
#include "run/run.h"

namespace whyformer {

std::optional<Tensor> Run::entering() const {
  const std::vector<Value> at = graph_->values_at(Depth::kInput);
  for (const Value value : at) {
    if (!value.valid() || graph_->graph.type(value).dtype == DType::kInt64) return std::nullopt;
  }
  if (at.empty()) return std::nullopt;
  const Pass pass = run(graph_->graph, input_.copies(1).feeds, {.outputs = at});
  std::vector<Tensor> values;
  for (const Value value : at) values.push_back(pass[value].select(0, 0).contiguous());
  return input_.rows(Depth::kInput, values);
}

void Run::enter(const Tensor& rows) {
  Feeds feeds = input_.copies(1).feeds;
  const std::vector<Value> at = graph_->values_at(Depth::kInput);
  const std::vector<Tensor> values = input_.from_rows(Depth::kInput, rows);
  for (size_t i = 0; i < at.size(); ++i) {
    Tensor fed = Tensor::empty(graph_->graph.shape(at[i]), input_.kind().dtype);
    fed.select(0, 0).copy_from(values[i]);
    feeds[at[i]] = fed;
  }
  forget_walks();  // they refer to the pass
  if (own_pass_ == nullptr) {
    own_pass_ = std::move(pass_);
    own_outputs_ = outputs_;
  }
  run_shared(feeds);
  spent_.forwards += 1;
}

void Run::enter_own() noexcept {
  if (own_pass_ == nullptr) return;
  forget_walks();
  pass_ = std::move(own_pass_);
  outputs_ = std::move(own_outputs_);
}

}  // namespace whyformer
