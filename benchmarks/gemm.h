// What benchmark_gemm measures, for ours and for the rivals it is built with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace whyformer {

// C [rows, columns] = A [rows, depth] · B [depth, columns] with one of several constant matrices B,
// which together exceed the caches as the weights of a model do.
struct WeightProduct {
  int64_t rows, depth, columns;
  const float* a;
  std::vector<const float*> weights;
  float* c;
};

// The products of attention: `heads` matrices side by side in rows of heads · 64 floats (Q, K, V), and
// maps of tokens x tokens.
enum class AttentionProduct { kScores, kContext, kGradientOfMap, kMapTransposed };
struct HeadProducts {
  AttentionProduct product;
  int64_t heads, tokens;
  const float* left;   // [tokens, heads · 64], or the maps [heads, tokens, tokens]
  const float* right;  // [tokens, heads · 64]
  float* c;            // maps or [tokens, heads · 64]
};

// Each call computes the product once; weights take turns.
struct Contender {
  std::string name;
  std::function<void()> run;
};
std::vector<Contender> rivals_for(const WeightProduct& product);
std::vector<Contender> rivals_for(const HeadProducts& products);

}  // namespace whyformer
