#include "random_vit.h"

#include <cmath>

#include "base/random.h"
#include "discovery/restrict_rows.h"
#include "ops/ops.h"
#include "ops/pictures.h"

namespace whyformer {
namespace {

constexpr int64_t kLayers = 12, kWidth = 768, kHeads = 12, kInner = 3072, kPatch = 16,
                  kLabels = 1000;

// A block of draws, repeated: drawing 86 million normals would take longer than the benchmark.
Tensor random_tensor(const Shape& shape, const std::string& name, int64_t instance,
                     double deviation) {
  const CounterRandom random(1, name, instance);
  std::vector<float> block(4099);
  for (size_t i = 0; i < block.size(); ++i) {
    block[i] = static_cast<float>(deviation * random.normal(static_cast<int64_t>(i)));
  }
  Tensor tensor = Tensor::empty(shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.mutable_data<float>()[i] = block[i % block.size()];
  return tensor;
}

class VitBuilder {
 public:
  VitBuilder(RandomVit& vit, int64_t pictures) : vit_(vit), pictures_(pictures) {
    result_.pixels = graph_.input("pixels", {pictures, 3, kVitSide, kVitSide}, DType::kFloat32);
    Value x = embed(result_.pixels);
    for (int64_t i = 0; i < kLayers; ++i) {
      x = layer(x, "layer." + std::to_string(i) + ".");
      result_.blocks.blocks.push_back(x);
    }
    const Value first = slice(graph_, norm(x, "norm"), 1, 0, 1, "first");
    result_.blocks.output =
        dense(reshape(graph_, first, {pictures, kWidth}, "first"), "classifier", kLabels, kWidth);
  }

  PixelGraph finish(LastBlock last) {
    Graph whole = graph_.finish();
    BlockGraph& blocks = result_.blocks;
    std::shared_ptr<const Graph> owner;
    if (last == LastBlock::kAllRows) {
      owner = std::make_shared<const Graph>(std::move(whole));
    } else {
      const std::vector<Value> full(blocks.blocks.begin(), blocks.blocks.end() - 1);
      Restricted restricted = restrict_rows(whole, blocks.output, full);
      const auto renamed = [&](Value value) { return restricted.new_value[value.id]; };
      blocks.blocks.pop_back();
      for (Value& block : blocks.blocks) block = renamed(block);
      blocks.output = renamed(blocks.output);
      blocks.blocks.push_back(
          blocks.output);  // a place holder: the last block has not all its rows here
      result_.pixels = renamed(result_.pixels);
      owner = std::make_shared<const Graph>(std::move(restricted.graph));
    }
    blocks.graph = owner.get();
    blocks.owner = owner;
    return std::move(result_);
  }

 private:
  Value embed(Value pixels) {
    const int64_t grid = kVitSide / kPatch;
    const Value picture =
        convolution(graph_, pixels, vit_.weights("patches", kWidth, 3 * kPatch * kPatch),
                    {.kernel = {kPatch, kPatch}, .strides = {kPatch, kPatch}}, "patches");
    const Value rows = reshape(graph_, picture, {pictures_, kWidth, grid * grid}, "patches");
    const Value patches = transpose(graph_, rows, {0, 2, 1}, "patches");
    const Value token = graph_.constant(
        random_tensor({1, 1, kWidth}, "cls", 0, 0.02).expand({pictures_, 1, kWidth}).contiguous(),
        "cls");
    const Value positions = graph_.constant(
        random_tensor({1, grid * grid + 1, kWidth}, "positions", 0, 0.02), "positions");
    return add(graph_, concat(graph_, token, patches, 1, "tokens"), positions, "positions");
  }

  Value dense(Value x, const std::string& name, int64_t out, int64_t in) {
    return linear(graph_, x, vit_.weights(name, out, in), name);
  }

  Value norm(Value x, const std::string& name) {
    Tensor ones = Tensor::zeros({kWidth});
    ones.fill(1);
    return layer_norm(graph_, x, {ones, Tensor::zeros({kWidth}), 1e-12}, name);
  }

  Value heads(Value x, const std::string& name) {
    const int64_t tokens = graph_.shape(x)[1];
    const Value split = reshape(graph_, dense(x, name, kWidth, kWidth),
                                {pictures_, tokens, kHeads, kWidth / kHeads}, name);
    return transpose(graph_, split, {0, 2, 1, 3}, name);
  }

  Value attention(Value x, const std::string& base) {
    const Shape shape = graph_.shape(x);
    const Value query = heads(x, base + "query");
    const Value keys = transpose(graph_, heads(x, base + "key"), {0, 1, 3, 2}, base + "turned");
    const Value value = heads(x, base + "value");
    const double scale = 1 / std::sqrt(static_cast<double>(kWidth / kHeads));
    const Value maps =
        softmax(graph_, matmul(graph_, query, keys, base + "scores"), {}, scale, base + "maps");
    const Value context = transpose(graph_, matmul(graph_, maps, value, base + "context"),
                                    {0, 2, 1, 3}, base + "merge");
    return dense(reshape(graph_, context, shape, base + "merge"), base + "output", kWidth, kWidth);
  }

  Value layer(Value x, const std::string& base) {
    x = add(graph_, attention(norm(x, base + "norm1"), base), x, base + "add1");
    const Value inner = dense(norm(x, base + "norm2"), base + "inner", kInner, kWidth);
    const Value active = activation(graph_, inner, ActivationFunction::kGelu, base + "gelu");
    return add(graph_, dense(active, base + "outer", kWidth, kInner), x, base + "add2");
  }

  RandomVit& vit_;
  int64_t pictures_;
  GraphBuilder graph_;
  PixelGraph result_;
};

}  // namespace

std::shared_ptr<const LinearWeights> RandomVit::weights(const std::string& name, int64_t out,
                                                        int64_t in) {
  auto& known = weights_[name];
  if (known == nullptr) {
    known = std::make_shared<LinearWeights>(random_tensor({out, in}, name, 0, 0.02),
                                            random_tensor({out}, name, 1, 0.02));
  }
  return known;
}

PixelGraph RandomVit::build(int64_t pictures, LastBlock last) {
  return VitBuilder(*this, pictures).finish(last);
}

Tensor random_picture(int64_t example) {
  return random_tensor({3, kVitSide, kVitSide}, "picture", example, 1);
}

}  // namespace whyformer
