// Measures the matrix products of a BERT-sized model: ours, oneDNN's where installed, and both as a
// share of the multiply-add peak measured just before.
#include "gemm.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <random>

#include <benchmark/benchmark.h>

#include "kernels/gemm.h"
#include "peak.h"

namespace whyformer {
namespace {

// More than any last-level cache we meet, so that weights come from memory as in a whole model.
constexpr int64_t kColdBytes = int64_t{96} << 20;
constexpr int64_t kHeads = 12;

std::shared_ptr<std::vector<float>> random_floats(int64_t count) {
  auto values = std::make_shared<std::vector<float>>(count);
  std::minstd_rand generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : *values) value = uniform(generator);
  return values;
}

// The fastest of all iterations counts: other programs on the machine only ever slow it down.
void measure(benchmark::State& state, const std::function<void()>& run, double operations) {
  using Clock = std::chrono::steady_clock;
  const double peak = measure_peak_gflops();
  double best = std::numeric_limits<double>::max();
  for (auto _ : state) {
    const auto start = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  state.counters["GFLOP/s"] = operations / best * 1e-9;
  state.counters["peak"] = peak;
  state.counters["%peak"] = 100 * operations / best * 1e-9 / peak;
}

void add_benchmark(const std::string& name, double operations, std::function<void()> run) {
  benchmark::RegisterBenchmark(name.c_str(), [run = std::move(run), operations](
                                                 benchmark::State& state) {
    measure(state, run, operations);
  })->Unit(benchmark::kMicrosecond)->UseRealTime();
}

// Everything of one shape; made at its first use, since all shapes together would fill the memory.
struct WeightSetup {
  std::shared_ptr<std::vector<float>> a, b, c;
  WeightProduct product;
  std::vector<PackedMatrix> packed;

  WeightSetup(int64_t rows, int64_t depth, int64_t columns) {
    const int64_t size = depth * columns;
    const int64_t copies = kColdBytes / (size * static_cast<int64_t>(sizeof(float))) + 1;
    a = random_floats(rows * depth);
    b = random_floats(size * copies);
    c = random_floats(rows * columns);
    product = {rows, depth, columns, a->data(), {}, c->data()};
    for (int64_t i = 0; i < copies; ++i) product.weights.push_back(b->data() + i * size);
  }
  void pack() {
    for (const float* weight : product.weights) {
      packed.emplace_back(weight, product.depth, product.columns, product.columns, 1);
    }
  }
};

std::function<void()> our_weight_product(WeightSetup& setup) {
  return [&setup, turn = size_t{0}]() mutable {
    const WeightProduct& p = setup.product;
    if (setup.packed.empty()) setup.pack();
    multiply_packed(p.a, p.rows, p.depth, setup.packed[turn++ % setup.packed.size()], p.c,
                    p.columns);
  };
}

void add_weight_products(int64_t rows, int64_t depth, int64_t columns) {
  const std::string name = "weights/" + std::to_string(depth) + "x" + std::to_string(columns) +
                           "/rows:" + std::to_string(rows) + "/";
  const double operations = 2.0 * static_cast<double>(rows * depth * columns);
  // Set up when the benchmark runs, torn down before the next shape.
  const auto with_setup = [=](size_t which) {
    return [=](benchmark::State& state) {
      WeightSetup setup(rows, depth, columns);
      std::vector<Contender> all = rivals_for(setup.product);
      all.insert(all.begin(), {"ours", our_weight_product(setup)});
      all[which].run();
      measure(state, all[which].run, operations);
    };
  };
  const WeightProduct nothing = {rows, depth, columns, nullptr, {}, nullptr};
  std::vector<Contender> names = rivals_for(nothing);
  names.insert(names.begin(), {"ours", nullptr});
  for (size_t i = 0; i < names.size(); ++i) {
    benchmark::RegisterBenchmark((name + names[i].name).c_str(), with_setup(i))
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime();
  }
}

std::string name_of(AttentionProduct product) {
  switch (product) {
    case AttentionProduct::kScores: return "QKt";
    case AttentionProduct::kContext: return "AV";
    case AttentionProduct::kGradientOfMap: return "dOVt";
    case AttentionProduct::kMapTransposed: return "AtdO";
  }
  return {};
}

ProductStack<float> our_head_products(const HeadProducts& p) {
  const int64_t n = p.tokens, width = p.heads * 64;
  const bool map_out =
      p.product == AttentionProduct::kScores || p.product == AttentionProduct::kGradientOfMap;
  ProductStack<float> stack = {.inner = p.heads, .a = {}, .b = {}, .c = {}};
  if (map_out) {
    stack.a = {p.left, n, 64, width, 1};
    stack.b = {p.right, 64, n, 1, width};
    stack.c = {p.c, n, n, n, 1};
    stack.a_inner = stack.b_inner = 64;
    stack.c_inner = n * n;
    return stack;
  }
  stack.a = p.product == AttentionProduct::kMapTransposed ? MatrixView<const float>{p.left, n, n, 1, n}
                                                          : MatrixView<const float>{p.left, n, n, n, 1};
  stack.b = {p.right, n, 64, width, 1};
  stack.c = {p.c, n, 64, width, 1};
  stack.a_inner = n * n;
  stack.b_inner = stack.c_inner = 64;
  return stack;
}

void add_head_products(AttentionProduct product, int64_t tokens) {
  const int64_t size = std::max(tokens * 64, tokens * tokens) * kHeads;
  const auto left = random_floats(size), right = random_floats(size), c = random_floats(size);
  const HeadProducts products = {product, kHeads, tokens, left->data(), right->data(), c->data()};
  const std::string name = "heads/" + name_of(product) + "/tokens:" + std::to_string(tokens) + "/";
  const double operations = 2.0 * static_cast<double>(kHeads * tokens * tokens * 64);
  add_benchmark(name + "ours", operations,
                [stack = our_head_products(products), left, right, c] { multiply_stack(stack); });
  for (Contender& rival : rivals_for(products)) {
    add_benchmark(name + rival.name, operations,
                  [run = std::move(rival.run), left, right, c] { run(); });
  }
}

void add_all() {
  for (const int64_t rows : {1, 8, 16, 32, 64, 128, 512, 1024}) {
    add_weight_products(rows, 768, 768);
    add_weight_products(rows, 768, 3072);
    add_weight_products(rows, 3072, 768);
  }
  for (const int64_t tokens : {8, 16, 64, 128, 512}) {
    for (const AttentionProduct product :
         {AttentionProduct::kScores, AttentionProduct::kContext, AttentionProduct::kMapTransposed}) {
      add_head_products(product, tokens);
    }
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
