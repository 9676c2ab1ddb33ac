#include "whyformer/error.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"
#include "whyformer/interrupted.h"
#include "whyformer/lengths.h"
#include "whyformer/printable.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {

namespace {

// What to write instead.
std::string advice(Remedy remedy) {
  switch (remedy) {
    case Remedy::kNone:
      break;
    case Remedy::kArrays:
      return " (give a dictionary of arrays by the names of the inputs)";
    case Remedy::kElement:
      return " (give a dictionary of arrays, output=NAME and element=[I, J, …])";
    case Remedy::kOutput:
      return " (load(…, output=NAME))";
    case Remedy::kHidingId:
      return " (hiding_id=N)";
    case Remedy::kPicture:
      return " (give a path, a PIL image or an array of pixels)";
    case Remedy::kRow:
      return " (give a row of numbers with background=, or a DataFrame)";
    case Remedy::kTableSpec:
      return " (load(…, table=whyformer.describe_table(frame, preprocessing)))";
    case Remedy::kText:
      return " (give a str)";
  }
  return "";
}

// Names in a message come from files, and tracebacks go to terminals.
void set_error(const nb::object& type, const Error& error) {
  PyErr_SetString(type.ptr(), (printable(error.what()) + advice(error.remedy())).c_str());
}

// They live as long as the module.
struct ErrorTypes {
  nb::object error, invalid_input, lengths_do_not_fit, unsupported_model, file_error;
};

void set_lengths_error(const nb::object& type, const LengthsDoNotFit& error) {
  const nb::object raised = type(printable(error.what()));
  raised.attr("input") = printable(error.input);
  PyErr_SetObject(type.ptr(), raised.ptr());
}

}  // namespace

void bind_errors(nb::module_& module) {
  // Also what Python programs expect for such mistakes, so that a plain `except ValueError` works.
  const nb::exception<Error> error(module, "Error", PyExc_RuntimeError);
  const nb::exception<InvalidInput> invalid_input(
      module, "InvalidInput", nb::make_tuple(error, nb::handle(PyExc_ValueError)));
  nb::exception<LengthsDoNotFit> lengths_do_not_fit(module, "LengthsDoNotFit", invalid_input);
  lengths_do_not_fit.attr("input") = "";
  static ErrorTypes* const types = new ErrorTypes{
      error, invalid_input, lengths_do_not_fit,
      nb::exception<UnsupportedModel>(module, "UnsupportedModel",
                                      nb::make_tuple(error, nb::handle(PyExc_ValueError))),
      nb::exception<FileError>(module, "FileError",
                               nb::make_tuple(error, nb::handle(PyExc_OSError)))};
  // The last translator that is registered is asked first.
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Interrupted&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    } catch (const LengthsDoNotFit& error) {
      set_lengths_error(types->lengths_do_not_fit, error);
    } catch (const InvalidInput& error) {
      set_error(types->invalid_input, error);
    } catch (const UnsupportedModel& error) {
      set_error(types->unsupported_model, error);
    } catch (const FileError& error) {
      set_error(types->file_error, error);
    } catch (const Error& error) {
      set_error(types->error, error);
    }
  });
  module.def("printable", &printable, "text"_a,
             "Text from files, with what would steer a terminal spelled out.");
}

}  // namespace whyformer::python
