// The whole program as a function, for main() and for the Python package's command.
#pragma once

namespace whyformer::cli {

// Returns the exit code. Catches Ctrl-C and SIGTERM, which may end the process, so it is called
// once and as a program.
int run_command_line(int argc, const char* const* argv);

}  // namespace whyformer::cli
