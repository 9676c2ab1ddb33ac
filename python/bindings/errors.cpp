#include "whyformer/error.h"

#include "bindings.h"
#include "whyformer/interrupted.h"

namespace nb = nanobind;

namespace whyformer::python {

void bind_errors(nb::module_& module) {
  // Also what Python programs expect for such mistakes, so that a plain `except ValueError` works.
  const nb::exception<Error> error(module, "Error", PyExc_RuntimeError);
  nb::exception<InvalidInput>(module, "InvalidInput", nb::make_tuple(error, nb::handle(PyExc_ValueError)));
  nb::exception<UnsupportedModel>(module, "UnsupportedModel", nb::make_tuple(error, nb::handle(PyExc_ValueError)));
  nb::exception<FileError>(module, "FileError", nb::make_tuple(error, nb::handle(PyExc_OSError)));
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Interrupted&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
}

}  // namespace whyformer::python
