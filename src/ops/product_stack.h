// Tensors of rank 2 to 4 as stacks of matrices over two leading axes.
#pragma once

#include "kernels/gemm.h"
#include "tensor/tensor.h"

namespace whyformer {

inline Tensor as_stack(const Tensor& tensor) {
  Shape shape = tensor.shape();
  while (shape.size() < 4) shape.insert(shape.begin(), 1);
  return tensor.expand(shape);
}

// c[i] = a[i]·b[i] for all leading indices; leading axes of length 1 repeat.
template <typename T>
ProductStack<T> product_stack(const Tensor& a_in, const Tensor& b_in, const Tensor& c_out) {
  const Tensor a = as_stack(a_in);
  const Tensor b = as_stack(b_in);
  Tensor c = as_stack(c_out);
  const auto step = [](const Tensor& t, int axis) { return t.dim(axis) == 1 ? 0 : t.stride(axis); };
  ProductStack<T> products;
  products.outer = c.dim(0);
  products.inner = c.dim(1);
  products.a = {a.data<T>(), a.dim(2), a.dim(3), a.stride(2), a.stride(3)};
  products.b = {b.data<T>(), b.dim(2), b.dim(3), b.stride(2), b.stride(3)};
  products.c = {c.mutable_data<T>(), c.dim(2), c.dim(3), c.stride(2), 1};
  products.a_outer = step(a, 0), products.a_inner = step(a, 1);
  products.b_outer = step(b, 0), products.b_inner = step(b, 1);
  products.c_outer = step(c, 0), products.c_inner = step(c, 1);
  return products;
}

}  // namespace whyformer
