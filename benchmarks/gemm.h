// What benchmark_gemm measures, and who competes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace whyformer {

// C [rows, columns] = A [rows, depth] · B [depth, columns], where constant matrices B take turns
// that together exceed the caches, as the weights of a model do.
struct WeightProduct {
  int64_t rows = 0, depth = 0, columns = 0;
  const float* a = nullptr;
  std::vector<const float*> weights = {};
  float* c = nullptr;
};

// The products of attention, all heads at once. Q, K, V and O are [tokens, heads · 64], with the
// heads side by side; the maps A are [heads, tokens, tokens].
enum class AttentionProduct { kQueryKey, kMapValue, kMapTransposedOutput };
struct HeadProducts {
  AttentionProduct product;
  int64_t heads, tokens;
  const float* left;
  const float* right;
  float* c;
};

// Prepares what may be prepared once (packed weights), and returns what computes the product.
template <class Product>
struct Contender {
  std::string name;
  std::function<std::function<void()>(const Product&)> prepare;
};

// Other libraries, as far as this build has them.
std::vector<Contender<WeightProduct>> weight_rivals();
std::vector<Contender<HeadProducts>> head_rivals();

}  // namespace whyformer
