// Measures the matrix products of a BERT-sized model: ours, those of the rivals this build has, and
// each as a share of the multiply-add peak of the same run.
#include "gemm.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>

#include "kernels/gemm.h"
#include "peak.h"

namespace whyformer {
namespace {

// More than any last-level cache we meet, so that weights come from memory as in a whole model.
constexpr int64_t kColdBytes = int64_t{96} << 20;
constexpr int64_t kHeads = 12;

std::vector<float> random_floats(int64_t count) {
  std::vector<float> values(count);
  std::minstd_rand generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : values) value = uniform(generator);
  return values;
}

// The fastest iteration and the best peak so far count: other programs only ever slow things down.
void measure(benchmark::State& state, const std::function<void()>& run, double operations) {
  using Clock = std::chrono::steady_clock;
  static double peak = 0;
  peak = std::max(peak, measure_peak_gflops());
  double best = std::numeric_limits<double>::max();
  run();
  for (auto _ : state) {
    const auto start = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  const double speed = operations / best * 1e-9;
  state.counters["GFLOP/s"] = speed;
  state.counters["peak"] = peak;
  state.counters["%peak"] = 100 * speed / peak;
}

void measure_weights(benchmark::State& state, const Contender<WeightProduct>& contender,
                     WeightProduct product) {
  const int64_t size = product.depth * product.columns;
  const int64_t copies = kColdBytes / (size * static_cast<int64_t>(sizeof(float))) + 1;
  const std::vector<float> a = random_floats(product.rows * product.depth);
  std::vector<float> c(product.rows * product.columns);
  product.a = a.data();
  product.c = c.data();
  static const std::vector<float> values = random_floats(kColdBytes / 4 + 3072 * 3072);
  for (int64_t i = 0; i < copies; ++i) product.weights.push_back(values.data() + i * size);
  measure(state, contender.prepare(product), 2.0 * static_cast<double>(product.rows * size));
}

void measure_heads(benchmark::State& state, const Contender<HeadProducts>& contender,
                   AttentionProduct product, int64_t tokens) {
  const int64_t size = kHeads * tokens * std::max<int64_t>(tokens, 64);
  const std::vector<float> left = random_floats(size), right = random_floats(size);
  std::vector<float> c(size);
  const HeadProducts products = {product, kHeads, tokens, left.data(), right.data(), c.data()};
  const double operations = 2.0 * static_cast<double>(kHeads * tokens * tokens * 64);
  measure(state, contender.prepare(products), operations);
}

std::function<void()> our_weight_product(const WeightProduct& p) {
  std::vector<PackedMatrix> packed;
  for (const float* weight : p.weights) {
    packed.emplace_back(weight, p.depth, p.columns, p.columns, 1);
  }
  return [p, packed, turn = size_t{0}]() mutable {
    multiply_packed(p.a, p.rows, p.depth, packed[turn++ % packed.size()], p.c, p.columns);
  };
}

std::function<void()> our_head_products(const HeadProducts& p) {
  const int64_t n = p.tokens, width = p.heads * 64;
  ProductStack<float> stack = {.inner = p.heads, .a = {}, .b = {}, .c = {}};
  if (p.product == AttentionProduct::kQueryKey) {
    stack.a = {p.left, n, 64, width, 1};
    stack.b = {p.right, 64, n, 1, width};
    stack.c = {p.c, n, n, n, 1};
    stack.a_inner = stack.b_inner = 64;
    stack.c_inner = n * n;
  } else {
    const bool transposed = p.product == AttentionProduct::kMapTransposedOutput;
    stack.a = {p.left, n, n, transposed ? 1 : n, transposed ? n : 1};
    stack.b = {p.right, n, 64, width, 1};
    stack.c = {p.c, n, 64, width, 1};
    stack.a_inner = n * n;
    stack.b_inner = stack.c_inner = 64;
  }
  return [stack] { multiply_stack(stack); };
}

void add_weight_products(int64_t rows, int64_t depth, int64_t columns) {
  std::vector<Contender<WeightProduct>> contenders = weight_rivals();
  contenders.insert(contenders.begin(), {"ours", our_weight_product});
  for (const Contender<WeightProduct>& contender : contenders) {
    const std::string name = "weights/" + std::to_string(depth) + "x" + std::to_string(columns) +
                             "/rows:" + std::to_string(rows) + "/" + contender.name;
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      measure_weights(state, contender, {.rows = rows, .depth = depth, .columns = columns});
    })->UseRealTime();
  }
}

void add_head_products(const std::string& title, AttentionProduct product, int64_t tokens) {
  std::vector<Contender<HeadProducts>> contenders = head_rivals();
  contenders.insert(contenders.begin(), {"ours", our_head_products});
  for (const Contender<HeadProducts>& contender : contenders) {
    const std::string name =
        "heads/" + title + "/tokens:" + std::to_string(tokens) + "/" + contender.name;
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      measure_heads(state, contender, product, tokens);
    })->UseRealTime();
  }
}

void add_all() {
  for (const int64_t rows : {1, 8, 16, 32, 64, 128, 512, 1024}) {
    add_weight_products(rows, 768, 768);
    add_weight_products(rows, 768, 3072);
    add_weight_products(rows, 3072, 768);
  }
  for (const int64_t tokens : {8, 16, 64, 128, 512}) {
    add_head_products("query_key", AttentionProduct::kQueryKey, tokens);
    add_head_products("map_value", AttentionProduct::kMapValue, tokens);
    add_head_products("map_transposed", AttentionProduct::kMapTransposedOutput, tokens);
  }
}

}  // namespace
}  // namespace whyformer

int main(int argc, char** argv) {
  whyformer::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
