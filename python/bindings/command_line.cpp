#include "cli/command_line.h"

#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace whyformer::python {
namespace {

// Arguments are bytes: names of files need not be UTF-8.
int run_program(const std::vector<nb::bytes>& arguments) {
  std::vector<const char*> argv{"whyformer"};
  for (const nb::bytes& argument : arguments) argv.push_back(argument.c_str());
  const nb::gil_scoped_release unlocked;
  return cli::run_command_line(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

void bind_command_line(nb::module_& module) {
  module.def("main", &run_program, "arguments"_a,
             "Run the command line with these arguments, as a program of its own: signals are "
             "caught, and may end the process. Gives the exit code.");
}

}  // namespace whyformer::python
