// How to say on the command line what would put an error of the library right.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "whyformer/error.h"

namespace whyformer::cli {

// The error's message, with the options that help behind it where the command has them.
std::string with_advice(const Error& error, const CLI::App& program);

}  // namespace whyformer::cli
