#include "model_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "console.h"
#include "option_groups.h"
#include "whyformer/error.h"
#include "whyformer/threads.h"

namespace whyformer::cli {
namespace {

// A file that is a picture of a kind that cannot be read: whoever reads pictures says so.
bool names_other_picture(const std::string& argument) {
  std::error_code error;
  const std::filesystem::path path(argument);
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const std::string ending = path.extension().string();
  for (const char* other :
       {".gif", ".bmp", ".tif", ".tiff", ".heic", ".heif", ".avif", ".jp2", ".svg"}) {
    if (CLI::detail::to_lower(ending) == other) return true;
  }
  return false;
}

bool has_name_of(const CLI::Option& option, std::initializer_list<std::string_view> names) {
  const std::vector<std::string>& own = option.get_lnames();
  return std::any_of(own.begin(), own.end(), [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

// Texts may be, and the list of methods, which then asks for the prediction alone.
bool may_be_empty(const CLI::Option& option) {
  return option.get_name(true) == "TEXT" ||
         has_name_of(option, {"text", "pair", "similar-to", "among", "method"});
}

bool draws(const CLI::Option& option) {
  return has_name_of(option, {"html", "svg", "png", "attention-svg", "attention-png"});
}

// The name of a file or folder is hardly ever a text that somebody wants explained.
void refuse_names_of_files(const std::string& argument) {
  std::error_code error;
  if (std::filesystem::is_regular_file(argument, error)) {
    throw InvalidInput(
        fmt::format("'{0}' is a file: explain the texts in it, one per line, with 'whyformer "
                    "explain --file {0}', or its name with --text",
                    argument));
  }
  if (argument.find('/') != argument.npos && std::filesystem::is_directory(argument, error)) {
    throw InvalidInput(fmt::format(
        "'{}' is a folder: give a picture, a text, or texts in a file with --file", argument));
  }
}

// What looks like the name of a file may still be a text; whoever mistyped it wants to know.
void note_missing_file(const std::string& argument) {
  if (argument.find_first_of(" \t\n") != argument.npos) return;
  const std::string lower = CLI::detail::to_lower(argument);
  const bool has_ending =
      std::ranges::any_of(std::array{".txt", ".csv", ".tsv", ".json", ".jsonl", ".onnx",
                                     ".safetensors", ".tif", ".tiff", ".gif", ".bmp"},
                          [&](const char* ending) { return lower.ends_with(ending); });
  if (!has_ending && argument.find('/') == argument.npos) return;
  tell(fmt::format("note: '{}' is not a file; it is read as a text", argument));
}

}  // namespace

std::optional<Model> built_in_named(const std::string& name) {
  if (name == "sentiment") return Model::built_in();
  if (name == "pictures") return Model::built_in_for_pictures();
  if (name == "income") return Model::built_in_for_tables();
  return std::nullopt;
}

void ModelArguments::add_to(CLI::App& command) {
  start_group(command, OptionGroup::kModel);
  command
      .add_option(
          "-m,--model", model,
          "HuggingFace model folder, ONNX file, folder with table.json, or checkpoint of a "
          "table model; or a built-in model: sentiment, pictures, income (default: the one for "
          "the kind of input)")
      ->type_name("MODEL");
  command
      .add_option("--table-spec", table_spec,
                  "table.json of a checkpoint: its columns, encodings and labels")
      ->type_name("FILE");
  command
      .add_option("--context", context,
                  "rows that explained ones attend to, of a model like SAINT: those of a CSV file, "
                  "block (the others of its 256 rows of the table), or alone (none); default: as "
                  "table.json says, else block")
      ->type_name("FILE|block|alone");
  command
      .add_option("--context-mode", context_mode,
                  "frozen: the context does not see the explained row; live: it does, which takes "
                  "longer")
      ->check(CLI::IsMember({"frozen", "live"}));
  command.add_option("--threads", threads, "number of threads (default: all cores)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
}

void ModelArguments::apply_threads() const {
  if (threads > 0) set_threads(threads);
}

void ModelArguments::add_output_to(CLI::App& command) {
  start_group(command, OptionGroup::kTarget);
  command
      .add_option("--output", output,
                  "output of an ONNX file (default: the logits, or the one for the whole input)")
      ->type_name("NAME");
}

Model ModelArguments::load_or(Model (*built_in)()) const {
  apply_threads();
  const std::optional<Model> named = built_in_named(model);
  if (!model.empty() && !named) {
    const bool is_word = context == "block" || context == "alone";
    return Model::load(model, {.output = output,
                               .table_spec = table_spec,
                               .context = is_word ? "" : context,
                               .context_rows = is_word ? context : "",
                               .context_mode = context_mode});
  }
  if (!context.empty() || !context_mode.empty()) {
    throw InvalidInput(
        "--context and --context-mode go with a model whose rows attend to each other (SAINT): "
        "--model DIR");
  }
  if (!table_spec.empty())
    throw InvalidInput("--table-spec goes with a checkpoint: --model model.pt");
  if (!output.empty()) throw InvalidInput("--output goes with an ONNX file: --model model.onnx");
  return named ? *named : built_in();
}

Model ModelArguments::load() const { return load_or(&Model::built_in); }

Model ModelArguments::load_for_pictures() const { return load_or(&Model::built_in_for_pictures); }

Model ModelArguments::load_for_tables() const { return load_or(&Model::built_in_for_tables); }

void TextArguments::add_to(CLI::App& command) {
  start_group(command, OptionGroup::kInput);
  has_positional =
      command.add_option("TEXT", positional, "text, or picture file (JPEG, PNG, WebP)");
  has_text = command.add_option("-t,--text", text, "text")->type_name("TEXT");
  has_pair = command
                 .add_option("--pair", pair,
                             "second text of a pair; with a picture, the text to compare "
                             "it with (CLIP)")
                 ->type_name("TEXT");
}

std::optional<TextInput> TextArguments::given() const {
  if (has_positional->count() > 0 && has_text->count() > 0) {
    throw InvalidInput("the text is given twice: as an argument and as --text");
  }
  if (has_positional->count() == 0 && has_text->count() == 0) return std::nullopt;
  TextInput input;
  input.text = has_text->count() > 0 ? text : positional;
  if (has_pair->count() > 0) input.pair = pair;
  return input;
}

void PictureArguments::add_to(CLI::App& command) {
  start_group(command, OptionGroup::kInput);
  command.add_option("--picture", picture, "picture (JPEG, PNG, WebP)")->type_name("FILE");
}

void PictureArguments::add_classes_to(CLI::App& command) {
  start_group(command, OptionGroup::kTarget);
  has_top = command.add_option("--top", top, "number of highest classes to explain (pictures)")
                ->check(CLI::Range(int64_t{1}, int64_t{100}))
                ->type_name("N");
  command
      .add_option("--among", among,
                  "candidate text for zero-shot classification (CLIP); repeat for each")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("TEXT");
}

std::optional<PictureFile> PictureArguments::given(const TextArguments& text) const {
  const std::optional<TextInput> words = text.given();
  if (!picture.empty()) {
    if (words) throw InvalidInput("give a text or a picture, not both");
    return PictureFile{picture};
  }
  if (text.has_positional->count() > 0) {
    if (means_picture(text.positional) || names_other_picture(text.positional))
      return PictureFile{text.positional};
    refuse_names_of_files(text.positional);
    note_missing_file(text.positional);
  }
  if (has_top->count() > 0 || !among.empty()) {
    throw InvalidInput(
        "--top and --among go with a picture: whyformer explain picture.png --top 3");
  }
  return std::nullopt;
}

Model PictureArguments::load(const ModelArguments& model) const {
  const Model loaded = model.load_for_pictures();
  return among.empty() ? loaded : loaded.among(among);
}

void TargetArguments::add_to(CLI::App& command) {
  start_group(command, OptionGroup::kTarget);
  has_target =
      command
          .add_option("--target", targets,
                      "label or index (default: the highest); may be repeated for pictures")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->type_name("LABEL|N");
  command
      .add_option("--read-out", read_out,
                  "read-out, if not recognised: token index (negative: from the end) or mean")
      ->type_name("N|mean");
  has_similar_to = command
                       .add_option("--similar-to", similar_to,
                                   "reference text for similarity (encoders without a classifier)")
                       ->type_name("TEXT");
}

void TargetArguments::fill(ExplainRequest& request) const {
  if (!targets.empty()) {
    request.target = targets[0];
    request.other_targets.assign(targets.begin() + 1, targets.end());
  }
  if (!read_out.empty()) {
    const bool number =
        read_out.size() < 10 &&
        read_out.find_first_not_of("0123456789", read_out[0] == '-') == read_out.npos;
    if (number && read_out != "-")
      request.read_out = std::stoll(read_out);
    else
      request.read_out = read_out;
  }
  if (has_similar_to->count() > 0) request.similar_to = similar_to;
}

void refuse_empty_names(CLI::App& program) {
  const CLI::Validator named(
      [](std::string& value) {
        return value.empty()
                   ? std::string(
                         "its name is empty (is a variable unset?): give one, or leave it out")
                   : std::string();
      },
      "", "not empty");
  const CLI::Validator in_a_file(
      [](std::string& value) {
        return value == "-"
                   ? std::string("only JSON is written to standard output: give a file's name")
                   : std::string();
      },
      "", "a file");
  for (CLI::App* command : program.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() > 0 && !may_be_empty(*option)) option->check(named);
      if (draws(*option)) option->check(in_a_file);
    }
  }
}

void leave_arguments_alone(CLI::App& program) {
  for (CLI::App* command : program.get_subcommands({})) {
    const std::vector<CLI::Option*> options = command->get_options();
    const auto is_positional = [](const CLI::Option* option) { return option->get_positional(); };
    if (std::none_of(options.begin(), options.end(), is_positional)) continue;
    for (CLI::Option* option : options) {
      if (!is_positional(option)) option->allow_extra_args(false);
    }
  }
}

}  // namespace whyformer::cli
