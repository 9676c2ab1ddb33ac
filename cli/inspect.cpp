#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "array_arguments.h"
#include "command.h"
#include "console.h"
#include "model_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/lengths.h"
#include "whyformer/relevance.h"
#include "whyformer/report.h"
#include "whyformer/table_spec.h"

namespace whyformer::cli {
namespace {

// "input_ids=1,16" as a name and lengths.
InputShapes shapes_from(const std::vector<std::string>& texts) {
  InputShapes shapes;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    std::vector<int64_t> lengths;
    for (size_t at = equals; at != text.npos; at = text.find(',', at + 1)) {
      const std::string number = text.substr(at + 1, text.find(',', at + 1) - at - 1);
      const bool digits = !number.empty() && number.size() < 10 &&
                          number.find_first_not_of("0123456789") == number.npos;
      if (!digits) throw InvalidInput(fmt::format("--shape '{}': write NAME=1,3,224,224", text));
      lengths.push_back(std::stoll(number));
    }
    if (lengths.empty())
      throw InvalidInput(fmt::format("--shape '{}': write NAME=1,3,224,224", text));
    shapes[text.substr(0, equals)] = lengths;
  }
  return shapes;
}

constexpr const char* kSampleText = "I cannot wait for next time";

struct InspectArguments {
  std::string folder, model, policy = "chefer", text = kSampleText, target, precision = "single";
  std::string svg, png, html, table, draft;
  std::vector<std::string> shapes;
  BatchAxisArguments batch_axis;
  bool json = false, relevance = false;
};

// What to do about lengths that do not fit.
ModelInfo inspected(const std::string& path, const InspectArguments& arguments) {
  try {
    return inspect(path, shapes_from(arguments.shapes), arguments.batch_axis.batch_axes());
  } catch (const LengthsDoNotFit& error) {
    throw InvalidInput(
        fmt::format("{}; set the shape, such as --shape {}=N,…", error.what(), error.input));
  }
}

std::optional<TableDraft> drafted(const std::string& path, const InspectArguments& arguments) {
  if (arguments.draft.empty()) return std::nullopt;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return draft_table(path, arguments.table);
  throw InvalidInput(
      "--draft is for weights of a table model without a table.json: whyformer inspect model.pt "
      "--draft table.json");
}

OutputFiles written_files(const ModelInfo& info, const std::optional<TableDraft>& draft,
                          const InspectArguments& arguments) {
  OutputFiles files;
  files.add(arguments.svg, [&] { return model_picture(info, PictureFormat::kSvg); });
  files.add(arguments.png, [&] { return model_picture(info, PictureFormat::kPng); });
  files.add(arguments.html, [&] { return to_html(info); });
  files.add(arguments.draft, [&] { return draft->table_json; });
  const KeepAnswers keep;
  files.write();
  return files;
}

void inspect_relevance(const Model& model, const InspectArguments& arguments) {
  ExplainRequest request;
  if (!arguments.target.empty()) request.target = arguments.target;
  if (arguments.precision == "double") request.precision = Precision::kDouble;
  const RelevanceReport report =
      relevance_report(model, TextInput{arguments.text, {}}, arguments.policy, request);
  if (arguments.json)
    print(to_json(report) + "\n");
  else
    print(to_terminal(report));
}

void add_arguments(CLI::App& command, InspectArguments& a) {
  start_group(command, OptionGroup::kModel);
  command.add_option("MODEL", a.folder,
                     "HuggingFace model folder, ONNX file, folder with table.json, or weights of "
                     "a table model (default: the built-in sentiment model)");
  command.add_option("-m,--model", a.model, "model folder or file")->type_name("MODEL");
  start_group(command, OptionGroup::kInput);
  command.add_option("--shape", a.shapes, "shape of an ONNX input that the file leaves open")
      ->type_name("NAME=1,3,224,224");
  a.batch_axis.add_to(command);
  CLI::Option* table =
      command
          .add_option("--table", a.table,
                      "rows that the draft takes names, kinds and words of columns from (CSV)")
          ->type_name("FILE");
  start_group(command, OptionGroup::kOutput);
  CLI::Option* draft =
      command
          .add_option("--draft", a.draft, "of weights of a table model: a table.json to go on from")
          ->type_name("FILE");
  table->needs(draft);
  command.add_flag("--json", a.json, "JSON on standard output");
  command.add_option("--svg", a.svg, "diagram of streams and attention sites as SVG")
      ->type_name("FILE");
  command.add_option("--png", a.png, "diagram of streams and attention sites as PNG")
      ->type_name("FILE");
  command.add_option("--html", a.html, "HTML page with diagram and tables")->type_name("FILE");
}

void add_relevance_arguments(CLI::App& command, InspectArguments& a) {
  start_group(command, OptionGroup::kMethods);
  CLI::Option* relevance = command.add_flag(
      "--relevance", a.relevance, "show relevance entering and leaving each operator instead");
  command.add_option("--policy", a.policy, "relevance policy: a name or a JSON file")
      ->needs(relevance)
      ->capture_default_str();
  command.add_option("--text", a.text, "text to explain")->needs(relevance)->capture_default_str();
  command.add_option("--target", a.target, "label or index (default: the highest)")
      ->needs(relevance)
      ->type_name("LABEL|N");
  command.add_option("--precision", a.precision, "floating-point precision; double is slow")
      ->check(CLI::IsMember({"single", "double"}))
      ->needs(relevance)
      ->capture_default_str();
}

void run(const InspectArguments& a) {
  const std::string& folder = a.folder.empty() ? a.model : a.folder;
  if (folder.empty() && !(a.shapes.empty() && a.batch_axis.told.empty())) {
    throw InvalidInput(
        "--shape and --batch-axis are for ONNX files: whyformer inspect model.onnx --shape "
        "NAME=1,3,224,224");
  }
  check_outputs({a.svg, a.png, a.html, a.draft}, {folder, a.table});
  const std::optional<Model> own = built_in_named(folder.empty() ? "sentiment" : folder);
  if (a.relevance) {
    return inspect_relevance(own ? *own : Model::load(folder), a);
  }
  const std::optional<TableDraft> draft = drafted(folder, a);
  const ModelInfo info = draft ? *draft->info : own ? own->inspect() : inspected(folder, a);
  const OutputFiles files = written_files(info, draft, a);
  if (a.json) {
    print(to_json(info) + "\n");
    return;
  }
  print(to_terminal(info));
  files.name_them();
}

}  // namespace

void add_inspect(CLI::App& program) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = program.add_subcommand(
      "inspect", "Show what was found in a model: attention, streams, read-out");
  add_arguments(*command, *arguments);
  add_relevance_arguments(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
