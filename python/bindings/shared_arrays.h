// NumPy arrays that share memory with what the engine computed. They cannot be written to.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace whyformer::python {

template <class T>
using SharedArray = nanobind::ndarray<nanobind::numpy, const T>;

using ArrayShape = std::vector<size_t>;

inline ArrayShape array_shape(const std::vector<int64_t>& lengths) {
  return {lengths.begin(), lengths.end()};
}

// Of a vector inside a bound object, which the array keeps alive.
template <class T>
SharedArray<T> array_in(nanobind::handle owner, const std::vector<T>& values,
                        const ArrayShape& shape) {
  return SharedArray<T>(values.data(), shape.size(), shape.data(), owner);
}

template <class T>
SharedArray<T> array_in(nanobind::handle owner, const std::vector<T>& values) {
  return array_in(owner, values, {values.size()});
}

// Of shared memory.
template <class T>
SharedArray<T> shared_array(const std::shared_ptr<const T[]>& values, const ArrayShape& shape) {
  auto* kept = new std::shared_ptr<const T[]>(values);
  const nanobind::capsule owner(kept, [](void* pointer) noexcept {
    delete static_cast<std::shared_ptr<const T[]>*>(pointer);
  });
  return SharedArray<T>(values.get(), shape.size(), shape.data(), owner);
}

// Of a vector that moves into the array.
template <class T>
SharedArray<T> array_of(std::vector<T> values, const ArrayShape& shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const nanobind::capsule owner(
      kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return SharedArray<T>(kept->data(), shape.size(), shape.data(), owner);
}

}  // namespace whyformer::python
