// Parts that a model compares by the vectors it gives them (a picture with a text). Whatever is
// hidden in one leaves the others' vectors as they are, so each variant of a part runs once.
#include <map>
#include <set>

#include "base/length.h"
#include "run/input.h"

namespace whyformer {
namespace {

constexpr int64_t kMemoBytes = int64_t{1} << 27;  // for the vectors of each part's variants

void make_length_one(std::vector<double>& vector) {
  const double length = length_or_one(vector);
  for (double& x : vector) x /= length;
}

}  // namespace

std::vector<std::vector<double>> Input::vectors_of(size_t part,
                                                   const std::vector<Variant>& variants) const {
  // Those that run together share their first number and their length.
  std::map<std::pair<int64_t, size_t>, std::set<Variant>> unknown;
  for (const Variant& variant : variants) {
    if (vectors_[part].find(variant) == nullptr) {
      unknown[{variant.front(), variant.size()}].insert(variant);
    }
  }
  std::map<Variant, std::vector<double>> found;
  for (const auto& [key, group] : unknown) {
    const std::vector<Variant> batch(group.begin(), group.end());
    const FedGraph together = parts_[part]->run_of(batch);
    const Value output = together.graph->output;
    const Tensor answers =
        run(together.graph->graph, together.feeds, {.outputs = {output}})[output];
    for (size_t i = 0; i < batch.size(); ++i) {
      std::vector<double>& vector = found[batch[i]] =
          answers.select(0, static_cast<int64_t>(i)).to_doubles();
      make_length_one(vector);
    }
  }
  std::vector<std::vector<double>> results;
  for (const Variant& variant : variants) {
    const auto* known = vectors_[part].find(variant);
    results.push_back(known != nullptr ? *known : found.at(variant));
  }
  for (auto& [variant, vector] : found) {
    vectors_[part].add(variant, std::move(vector), kMemoBytes);
  }
  return results;
}

// A graph that has the answers already: they come from runs of the parts, or from earlier ones.
FedGraph Input::compared(std::span<const Variant> inputs) const {
  std::vector<std::vector<Variant>> variants(parts_.size());
  for (const Variant& input : inputs) {
    auto first = input.begin() + static_cast<int64_t>(parts_.size()) - 1;
    for (size_t part = 0; part < parts_.size(); ++part) {
      const auto last = part + 1 < parts_.size() ? first + input[part] : input.end();
      variants[part].emplace_back(first, last);
      first = last;
    }
  }
  const auto left = vectors_of(0, variants[0]), right = vectors_of(1, variants[1]);
  std::vector<double> logits;
  for (size_t i = 0; i < inputs.size(); ++i) {
    double cosine = 0;
    for (size_t k = 0; k < left[i].size(); ++k) cosine += left[i][k] * right[i][k];
    logits.push_back(facts_.scale * cosine);
  }
  const auto batch = static_cast<int64_t>(inputs.size());
  GraphBuilder builder;
  auto graph = std::make_shared<ModelGraph>();
  graph->output = builder.input("logits", {batch, 1}, DType::kFloat64);
  graph->graph = builder.finish();
  return {graph,
          {{graph->output, Tensor::of<double>({batch, 1}, std::span<const double>(logits))}}};
}

}  // namespace whyformer
