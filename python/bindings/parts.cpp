#include "whyformer/parts.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "long_work.h"
#include "whyformer/model.h"

namespace nb = nanobind;

namespace whyformer::python {
namespace {

using Numbers = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// The array lives as long as somebody reads it. Whoever is last may not hold the interpreter's lock.
std::shared_ptr<const void> keep(Numbers numbers) {
  const void* data = numbers.data();
  auto* kept = new Numbers(std::move(numbers));
  return {data, [kept](const void*) {
            if (!Py_IsInitialized()) return;
            const nb::gil_scoped_acquire lock;
            delete kept;
          }};
}

}  // namespace

void bind_parts(nb::module_& module) {
  // Weights come as (name, type as safetensors calls it, shape, array).
  module.def("load_parts", [](std::string name, std::map<std::string, std::string, std::less<>> documents,
                              const std::vector<std::tuple<std::string, std::string, std::vector<int64_t>, Numbers>>& weights) {
    ModelParts parts{std::move(name), std::move(documents), {}};
    for (const auto& [key, type, shape, numbers] : weights) {
      parts.weights[key] = {type, shape, keep(numbers), numbers.nbytes()};
    }
    return run_long(nb::none(), [&](const auto&) { return Model::load(parts); });
  });
}

}  // namespace whyformer::python
