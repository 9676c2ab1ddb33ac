// The rules against their definition: Jacobian by backward walks, impacts and shares in plain
// loops.
#include "studies/heads/voita_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "graph/walk_back.h"
#include "tests/support/check_op.h"

namespace whyformer::voita {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

using Numbers = std::vector<double>;
using Build = std::function<Value(GraphBuilder&, const std::vector<Value>&)>;

double sum(const Numbers& numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }

void rescale(Numbers& shares, double wanted) {
  const double factor = wanted / (sum(shares) + 1e-5);
  for (double& share : shares) share *= factor;
}

// A function as a graph; all its inputs count as inputs of every output.
class Function {
 public:
  Function(const Tensors& inputs, const Build& build) : inputs_(inputs) {
    GraphBuilder builder;
    for (const Tensor& input : inputs) {
      values_.push_back(builder.input("x", input.shape(), DType::kFloat64));
    }
    output_ = build(builder, values_);
    graph_ = builder.finish();
  }

  // Shares of all inputs, one after the other, before any rescaling.
  Numbers transition(const Numbers& relevance) const {
    const Pass pass = evaluated(inputs_);
    Tensors zeros;
    for (const Tensor& input : inputs_)
      zeros.push_back(Tensor::zeros(input.shape(), DType::kFloat64));
    const Numbers at_zero = evaluated(zeros)[output_].to_doubles();
    const Numbers x = flat(inputs_);
    Numbers shares(x.size(), 0.0);
    for (size_t o = 0; o < relevance.size(); ++o) {
      Numbers impacts = jacobian_row(pass, o);
      double positive = 0, negative = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        impacts[i] = impacts[i] * x[i] + at_zero[o] / static_cast<double>(x.size());
        (impacts[i] > 0 ? positive : negative) += impacts[i];
      }
      for (size_t i = 0; i < x.size(); ++i) {
        shares[i] +=
            relevance[o] * 0.5 *
            (impacts[i] > 0 ? impacts[i] / (positive + 1e-5) : impacts[i] / (negative - 1e-5));
      }
    }
    return shares;
  }

 private:
  static Numbers flat(const Tensors& tensors) {
    Numbers all;
    for (const Tensor& tensor : tensors) {
      const Numbers part = tensor.to_doubles();
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  Pass evaluated(const Tensors& inputs) const {
    Feeds feeds;
    for (size_t i = 0; i < inputs.size(); ++i) feeds[values_[i]] = inputs[i];
    return run(graph_, feeds, {.keep = Keep::kEverything, .outputs = {output_}});
  }

  Numbers jacobian_row(const Pass& pass, size_t output) const {
    Tensor seed = Tensor::zeros(graph_.shape(output_), DType::kFloat64);
    seed.mutable_data<double>()[output] = 1;
    const auto slopes = walk_back(graph_, pass, output_, seed, gradient_rule(), values_);
    Tensors rows;
    for (const Value value : values_) rows.push_back(slopes.at(value));
    return flat(rows);
  }

  Tensors inputs_;
  std::vector<Value> values_;
  Value output_;
  Graph graph_;
};

Tensor random(const Shape& shape, int seed) { return random_tensor(shape, DType::kFloat64, seed); }
Tensor random_relevance(const Shape& shape, int seed) {
  return random_tensor(shape, DType::kFloat64, seed, 0, 1);
}

// Shares of a function that treats rows by themselves: each row's scaled, then all of them.
Numbers by_rows(const Tensor& x, const Tensor& relevance, const Build& build) {
  Numbers all;
  for (int64_t row = 0; row < x.dim(0); ++row) {
    const Numbers sent = relevance.select(0, row).to_doubles();
    Numbers shares = Function({x.slice(0, row, 1).contiguous()}, build).transition(sent);
    rescale(shares, sum(sent));
    all.insert(all.end(), shares.begin(), shares.end());
  }
  rescale(all, sum(relevance.to_doubles()));
  return all;
}

TEST(VoitaRules, OfALinearSpreadTheBiasEvenly) {
  const Tensor x = random({3, 5}, 1), relevance = random_relevance({3, 4}, 2);
  for (const Tensor& bias : {random({4}, 3), Tensor()}) {
    const auto weights = std::make_shared<LinearWeights>(random({4, 5}, 4), bias);
    const Numbers expected = by_rows(x, relevance, [&](GraphBuilder& graph, const auto& in) {
      return linear(graph, in[0], weights, "linear");
    });
    const LinearReader reader{weights.get(), relevance};
    const Tensor shares = through_linear(x, {&reader, 1});
    EXPECT_THAT(shares.to_doubles(), Pointwise(DoubleNear(1e-14), expected));
  }
}

TEST(VoitaRules, TakeLinearsThatReadTheSameRowsAsOne) {
  const Tensor x = random({3, 20}, 1);
  const Tensor weight = random({6, 20}, 2), bias = random({6}, 3);
  const Tensor relevance = random_relevance({3, 6}, 4);
  const LinearWeights whole(weight, bias);
  const LinearWeights upper(weight.slice(0, 0, 2), bias.slice(0, 0, 2));
  const LinearWeights lower(weight.slice(0, 2, 4), bias.slice(0, 2, 4));
  const LinearReader one{&whole, relevance};
  const LinearReader parts[] = {{&upper, relevance.slice(1, 0, 2)},
                                {&lower, relevance.slice(1, 2, 4)}};
  EXPECT_THAT(through_linear(x, parts).to_doubles(),
              Pointwise(DoubleNear(1e-14), through_linear(x, {&one, 1}).to_doubles()));
}

TEST(VoitaRules, OfALayerNormUseItsWholeJacobian) {
  const Tensor x = random({3, 6}, 1), relevance = random_relevance({3, 6}, 2);
  const LayerNormWeights weights{random({6}, 3), random({6}, 4), 1e-5};
  const Numbers expected = by_rows(x, relevance, [&](GraphBuilder& graph, const auto& in) {
    return layer_norm(graph, in[0], weights, "norm");
  });
  EXPECT_THAT(through_layer_norm(weights, x, relevance).to_doubles(),
              Pointwise(DoubleNear(1e-12), expected));
}

TEST(VoitaRules, OfASumScaleRowsOfBothAddendsTogether) {
  const Tensor a = random({3, 5}, 1), b = random({3, 5}, 2);
  const Tensor relevance = random_relevance({3, 5}, 3);
  Numbers first, second;
  for (int64_t row = 0; row < 3; ++row) {
    const Function addition(
        {a.select(0, row).contiguous(), b.select(0, row).contiguous()},
        [](GraphBuilder& graph, const auto& in) { return add(graph, in[0], in[1], "sum"); });
    const Numbers sent = relevance.select(0, row).to_doubles();
    Numbers shares = addition.transition(sent);
    rescale(shares, sum(sent));
    first.insert(first.end(), shares.begin(), shares.begin() + 5);
    second.insert(second.end(), shares.begin() + 5, shares.end());
  }
  rescale(first, sum(first));
  rescale(second, sum(second));
  const Addends shares = through_add(a, b, relevance);
  EXPECT_THAT(shares.a.to_doubles(), Pointwise(DoubleNear(1e-14), first));
  EXPECT_THAT(shares.b.to_doubles(), Pointwise(DoubleNear(1e-14), second));
}

// Two heads of three tokens; only the query rows from `first_row` on are read.
struct TwoHeads {
  explicit TwoHeads(int64_t first_row) : first(first_row) {
    call = {random({2, 3, 4}, 1), random({2, 3, 4}, 2), random({2, 3, 4}, 3), {}, first, 0.7};
    call.attention = Tensor::empty({2, 3 - first, 3}, DType::kFloat64);
    relevance = random_relevance({2, 3 - first, 4}, 4);
  }

  Value build(GraphBuilder& graph, Value q, Value k, Value v, Value* map) const {
    const Value keys = transpose(graph, k, {1, 0}, "keys");
    *map = softmax(graph, matmul(graph, q, keys, "scores"), {}, call.scale, "map");
    return matmul(graph, slice(graph, *map, 0, first, 3 - first, "rows"), v, "context");
  }

  // Also fills the map of the call.
  Numbers shares_of_head(int64_t head, AttentionMaps maps) {
    const Tensor q = call.q.select(0, head).contiguous(), k = call.k.select(0, head).contiguous(),
                 v = call.v.select(0, head).contiguous();
    GraphBuilder builder;
    const Value qv = builder.input("q", q.shape(), DType::kFloat64);
    const Value kv = builder.input("k", k.shape(), DType::kFloat64);
    const Value vv = builder.input("v", v.shape(), DType::kFloat64);
    Value map;
    build(builder, qv, kv, vv, &map);
    const Graph graph = builder.finish();
    const Tensor rows = run(graph, {{qv, q}, {kv, k}, {vv, v}}, {.outputs = {map}})[map];
    call.attention.select(0, head).copy_from(rows.slice(0, first, 3 - first));
    const Numbers sent = relevance.select(0, head).to_doubles();
    Numbers shares;
    if (maps == AttentionMaps::kConstant) {
      shares = values_alone(rows, v, sent);
    } else {
      shares = Function({q, k, v}, [&](GraphBuilder& graph, const auto& in) {
                 Value unused;
                 return build(graph, in[0], in[1], in[2], &unused);
               }).transition(sent);
    }
    rescale(shares, sum(sent));
    return shares;
  }

  Numbers values_alone(const Tensor& map, const Tensor& v, const Numbers& sent) const {
    Numbers shares(3 * 3 * 4, 0.0);
    for (int64_t i = first; i < 3; ++i) {
      for (int64_t c = 0; c < 4; ++c) {
        double positive = 0, negative = 0;
        const auto impact = [&](int64_t j) {
          return map.data<double>()[i * 3 + j] * v.data<double>()[j * 4 + c];
        };
        for (int64_t j = 0; j < 3; ++j) (impact(j) > 0 ? positive : negative) += impact(j);
        for (int64_t j = 0; j < 3; ++j) {
          shares[2 * 12 + j * 4 + c] += sent[(i - first) * 4 + c] * 0.5 * impact(j) /
                                        (impact(j) > 0 ? positive + 1e-5 : negative - 1e-5);
        }
      }
    }
    return shares;
  }

  int64_t first;
  AttentionCall call;
  Tensor relevance;
};

TEST(VoitaRules, OfAttentionUseItsJacobianInQueriesKeysAndValues) {
  for (const int64_t first_row : {0, 2}) {
    for (const AttentionMaps maps : {AttentionMaps::kFunction, AttentionMaps::kConstant}) {
      TwoHeads heads(first_row);
      Numbers expected = heads.shares_of_head(0, maps);
      const Numbers second = heads.shares_of_head(1, maps);
      expected.insert(expected.end(), second.begin(), second.end());
      rescale(expected, sum(heads.relevance.to_doubles()));
      const AttentionShares shares = through_attention(heads.call, heads.relevance, maps);
      Numbers found;
      for (int64_t head = 0; head < 2; ++head) {
        for (const Tensor& part : {shares.q, shares.k, shares.v}) {
          const Numbers numbers = part.select(0, head).to_doubles();
          found.insert(found.end(), numbers.begin(), numbers.end());
        }
      }
      EXPECT_THAT(found, Pointwise(DoubleNear(1e-13), expected)) << "from row " << first_row;
    }
  }
}

TEST(VoitaRules, KeepTheSumOfRelevanceButForTheEpsilons) {
  const Tensor x = random({3, 6}, 1), relevance = random_relevance({3, 6}, 2);
  const double sent = sum(relevance.to_doubles());
  const LinearWeights weights(random({6, 6}, 3), random({6}, 4));
  const LinearReader reader{&weights, relevance};
  EXPECT_NEAR(sum(through_linear(x, {&reader, 1}).to_doubles()), sent, 1e-4);
  const LayerNormWeights norm{random({6}, 5), random({6}, 6), 1e-5};
  EXPECT_NEAR(sum(through_layer_norm(norm, x, relevance).to_doubles()), sent, 1e-4);
  const Addends addends = through_add(x, random({3, 6}, 7), relevance);
  EXPECT_NEAR(sum(addends.a.to_doubles()) + sum(addends.b.to_doubles()), sent, 1e-4);
  TwoHeads heads(0);
  heads.shares_of_head(0, AttentionMaps::kFunction);
  heads.shares_of_head(1, AttentionMaps::kFunction);
  const AttentionShares shares =
      through_attention(heads.call, heads.relevance, AttentionMaps::kFunction);
  EXPECT_NEAR(sum(shares.q.to_doubles()) + sum(shares.k.to_doubles()) + sum(shares.v.to_doubles()),
              sum(heads.relevance.to_doubles()), 1e-4);
}

}  // namespace
}  // namespace whyformer::voita
