#include "command_line.h"

int main(int argc, char** argv) { return whyformer::cli::run_command_line(argc, argv); }
