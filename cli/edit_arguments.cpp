#include "edit_arguments.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "input_arguments.h"
#include "whyformer/error.h"

namespace whyformer::cli {
namespace {

constexpr const char* kOtherRun = "other";

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError(fmt::format("cannot read '{}'", path));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

void EditArguments::add_to(CLI::App& command) {
  command
      .add_option("--edit", edits,
                  "change a value inside the model, such as \"zero blocks.3.attention.context "
                  "head=5\"; may be repeated (see docs/probe.md)")
      ->type_name("EDIT");
  command.add_option("--edits", file, "edits as a JSON file")->type_name("FILE");
  command
      .add_option("--other", other,
                  "text or picture to copy from: --edit \"copy other.blocks.4.output token=2\"")
      ->type_name("INPUT");
}

std::vector<Edit> EditArguments::read(const Model& model, const InputValue& input) const {
  std::vector<Edit> all;
  if (!file.empty()) all = edits_from_json(text_of_file(file));
  ProbeRequest copied;
  for (const std::string& text : edits) {
    all.push_back(parse_edit(text));
    if (all.back().op == EditOp::kCopy) copied.reads.push_back({.value = all.back().value});
  }
  if (copied.reads.empty()) {
    if (!other.empty()) throw InvalidInput("--other goes with --edit \"copy other.VALUE\"");
    return all;
  }
  if (other.empty())
    throw InvalidInput("there is no run to copy from: give its input, --other \"…\"");
  InputValue from = TextInput{other, {}};
  if (is_picture(input)) from = PictureInput(PictureFile{other});
  const Recording recording = probe(model, from, copied);
  for (Edit& edit : all) {
    if (edit.op != EditOp::kCopy || edit.array.given()) continue;
    if (edit.source != fmt::format("{}.{}", kOtherRun, edit.value)) {
      throw InvalidInput(fmt::format("'{}': write copy other.{}, for the run of --other",
                                     to_text(edit), edit.value));
    }
    edit.array = recording.numbers(edit.value, edit.at);
  }
  return all;
}

}  // namespace whyformer::cli
