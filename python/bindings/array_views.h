// Arrays of Python that the engine reads where they lie.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "whyformer/parts.h"

namespace whyformer::python {

using AnyNumbers = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

// (name, type as safetensors calls it, shape, array)
using GivenArray = std::tuple<std::string, std::string, std::vector<int64_t>, AnyNumbers>;

// The array lives as long as somebody reads it. Whoever is last may not hold the interpreter's
// lock.
inline std::shared_ptr<const void> kept(const AnyNumbers& numbers) {
  auto* owner = new AnyNumbers(numbers);
  return {numbers.data(), [owner](const void*) {
            if (!Py_IsInitialized()) return;
            const nanobind::gil_scoped_acquire lock;
            delete owner;
          }};
}

inline std::map<std::string, ArrayView, std::less<>> views_of(
    const std::vector<GivenArray>& arrays) {
  std::map<std::string, ArrayView, std::less<>> views;
  for (const auto& [name, type, shape, numbers] : arrays)
    views[name] = {type, shape, kept(numbers), numbers.nbytes()};
  return views;
}

}  // namespace whyformer::python
