#include "command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>

#include "advice.h"
#include "command.h"
#include "console.h"
#include "model_arguments.h"
#include "unknown_words.h"
#include "whyformer/error.h"
#include "whyformer/model.h"
#include "whyformer/version.h"

namespace whyformer::cli {
namespace {

constexpr int kSuccess = 0;
constexpr int kInternalError = 1;
constexpr int kUserError = 2;

int fail(int code, const std::string& message) {
  tell("whyformer: " + message);
  return code;
}

int run(CLI::App& program, int argc, const char* const* argv) {
  try {
    if (argc < 2) {
      print(program.help());
      return kUserError;
    }
    program.parse(argc, argv);
    return kSuccess;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    const std::string unknown = about_unknown_words(program, argc, argv);
    const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const std::string about = unknown.empty() && extra ? about_extra_words(program) : unknown;
    const auto commands = program.get_subcommands();
    return fail(kUserError,
                fmt::format("{}; see 'whyformer {}--help'", about.empty() ? error.what() : about,
                            commands.empty() ? "" : commands[0]->get_name() + " "));
  } catch (const Interrupted&) {
    return fail(exit_code_of_interruption(), "interrupted");
  } catch (const Error& error) {
    return fail(kUserError, with_advice(error, program));
  } catch (const std::bad_alloc&) {
    return fail(kUserError,
                "out of memory: the model needs more for this input than there is; try a shorter "
                "text, a smaller picture or smaller arrays, fewer at a time (--memory), or look at "
                "the lengths in the model's file");
  } catch (const std::exception& error) {
    return fail(kInternalError, error.what());
  }
}

std::string version_text() {
  return fmt::format("whyformer {}, commit {}, {}", version(), commit(),
                     fmt::join(instruction_sets(), " "));
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  CLI::App program("Why this prediction? Explains predictions of transformers.", "whyformer");
  program.set_version_flag("--version", version_text());
  program.require_subcommand(1);
  add_explain(program);
  add_evaluate(program);
  add_agree(program);
  add_heads(program);
  add_importance(program);
  add_learned(program);
  add_patch(program);
  add_probe(program);
  add_sanity(program);
  add_debate(program);
  add_tcav(program);
  add_trace(program);
  add_tokenize(program);
  add_inspect(program);
  add_methods(program);
  // After the commands, which would take it over as theirs.
  program.footer(
      "Start with:  whyformer explain \"I cannot wait for next time\"\n"
      "Each command has its own --help.");
  refuse_empty_names(program);
  leave_arguments_alone(program);
  catch_interrupts();
  return run(program, argc, argv);
}

}  // namespace whyformer::cli
