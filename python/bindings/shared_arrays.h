// NumPy arrays that share memory with what the engine computed. They cannot be written to.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

namespace whyformer::python {

template <class T>
using SharedArray = nanobind::ndarray<nanobind::numpy, const T>;

// Of a vector inside a bound object, which the array keeps alive.
template <class T>
SharedArray<T> array_in(nanobind::handle owner, const std::vector<T>& values,
                        std::initializer_list<size_t> shape) {
  return SharedArray<T>(values.data(), shape, owner);
}

template <class T>
SharedArray<T> array_in(nanobind::handle owner, const std::vector<T>& values) {
  return array_in(owner, values, {values.size()});
}

// Of shared memory.
template <class T>
SharedArray<T> shared_array(const std::shared_ptr<const T[]>& values,
                            std::initializer_list<size_t> shape) {
  auto* kept = new std::shared_ptr<const T[]>(values);
  const nanobind::capsule owner(kept, [](void* pointer) noexcept {
    delete static_cast<std::shared_ptr<const T[]>*>(pointer);
  });
  return SharedArray<T>(values.get(), shape, owner);
}

// Of a vector that moves into the array.
template <class T>
SharedArray<T> array_of(std::vector<T> values, std::initializer_list<size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const nanobind::capsule owner(
      kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return SharedArray<T>(kept->data(), shape, owner);
}

}  // namespace whyformer::python
