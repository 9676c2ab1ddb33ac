#include <dnnl.hpp>

#include "gemm.h"

namespace whyformer {
namespace {

using dnnl::memory;

struct Device {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

Device& device() {
  static Device the_device;
  return the_device;
}

memory::desc row_major(int64_t rows, int64_t columns) {
  return {{rows, columns}, memory::data_type::f32, memory::format_tag::ab};
}

memory at(const memory::desc& description, const float* data) {
  return {description, device().engine, const_cast<float*>(data)};
}

std::function<void()> plain_product(const WeightProduct& p) {
  return [p, turn = size_t{0}]() mutable {
    const float* b = p.weights[turn++ % p.weights.size()];
    dnnl::sgemm('N', 'N', p.rows, p.columns, p.depth, 1, p.a, p.depth, b, p.columns, 0, p.c,
                p.columns);
  };
}

// Weights in whatever layout oneDNN likes best.
std::function<void()> packed_product(const WeightProduct& p) {
  const memory::desc any = {{p.depth, p.columns}, memory::data_type::f32, memory::format_tag::any};
  const dnnl::matmul::primitive_desc plan(
      {row_major(p.rows, p.depth), any, row_major(p.rows, p.columns)}, device().engine);
  std::vector<memory> weights;
  for (const float* b : p.weights) {
    memory plain = at(row_major(p.depth, p.columns), b);
    weights.emplace_back(plan.weights_desc(), device().engine);
    dnnl::reorder(plain, weights.back()).execute(device().stream, plain, weights.back());
  }
  device().stream.wait();
  return [p, weights, multiply = dnnl::matmul(plan), turn = size_t{0}]() mutable {
    multiply.execute(device().stream, {{DNNL_ARG_SRC, at(row_major(p.rows, p.depth), p.a)},
                                       {DNNL_ARG_WEIGHTS, weights[turn++ % weights.size()]},
                                       {DNNL_ARG_DST, at(row_major(p.rows, p.columns), p.c)}});
    device().stream.wait();
  };
}

std::function<void()> batched_product(const HeadProducts& p) {
  const int64_t n = p.tokens, width = p.heads * 64;
  const auto matrices = [&](int64_t rows, int64_t columns, const memory::dims& strides) {
    return memory::desc({p.heads, rows, columns}, memory::data_type::f32, strides);
  };
  const memory::desc tokens = matrices(n, 64, {64, width, 1});
  const memory::desc maps = matrices(n, n, {n * n, n, 1});
  memory::desc left = maps, right = tokens, out = tokens;
  if (p.product == AttentionProduct::kQueryKey) {
    left = tokens;
    right = matrices(64, n, {64, 1, width});
    out = maps;
  } else if (p.product == AttentionProduct::kMapTransposedOutput) {
    left = matrices(n, n, {n * n, 1, n});
  }
  const dnnl::matmul multiply(dnnl::matmul::primitive_desc({left, right, out}, device().engine));
  return [=] {
    multiply.execute(device().stream, {{DNNL_ARG_SRC, at(left, p.left)},
                                       {DNNL_ARG_WEIGHTS, at(right, p.right)},
                                       {DNNL_ARG_DST, at(out, p.c)}});
    device().stream.wait();
  };
}

}  // namespace

std::vector<Contender<WeightProduct>> weight_rivals() {
  return {{"onednn_plain", plain_product}, {"onednn_packed", packed_product}};
}

std::vector<Contender<HeadProducts>> head_rivals() { return {{"onednn", batched_product}}; }

}  // namespace whyformer
