#include "whyformer/probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "command.h"
#include "console.h"
#include "edit_arguments.h"
#include "input_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "table_arguments.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer::cli {
namespace {

struct ProbeArguments {
  InputArguments input;
  TargetArguments target;
  TableArguments table;
  EditArguments edits;
  std::vector<std::string> reads, gradients, relevance;
  std::string gradient_of, policy = "chefer", precision = "single", save, saved_as = "recorded";
  std::string json, pattern, second;
  int64_t most_megabytes = 4096;
  CLI::Option* list = nullptr;
  CLI::Option *policy_given = nullptr, *saved_as_given = nullptr, *has_second = nullptr;

  std::string listed() const { return pattern.empty() ? "**" : pattern; }
};

void add_probing(CLI::App& command, ProbeArguments& a) {
  start_group(command, OptionGroup::kMethods);
  a.list = command
               .add_option("--list", a.pattern,
                           "names, axes and shapes of the values inside that match a pattern: * "
                           "stands for any letters but a dot, ** for any letters")
               ->expected(0, 1)
               ->type_name("PATTERN");
  command
      .add_option("--read", a.reads,
                  "values to read, such as \"blocks.*.output token=0\" or \"logits "
                  "reduce=topk:3\"; may be repeated")
      ->type_name("VALUE");
  command.add_option("--gradient", a.gradients, "values whose gradient is read")
      ->type_name("VALUE");
  command
      .add_option("--gradient-of", a.gradient_of,
                  "value and places whose sum the gradient is of (default: the target)")
      ->type_name("VALUE");
  command.add_option("--relevance", a.relevance, "values whose relevance is read")
      ->type_name("VALUE");
  a.policy_given =
      command.add_option("--policy", a.policy, "relevance policy, by name or as a JSON file")
          ->capture_default_str();
  a.edits.add_to(command);
  command.add_option("--precision", a.precision, "floating-point precision")
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  command.add_option("--most", a.most_megabytes, "limit on what is read")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str()
      ->type_name("MB");
}

void add_outputs_of(CLI::App& command, ProbeArguments& a) {
  start_group(command, OptionGroup::kOutput);
  command
      .add_option("--save", a.save, "FILE.safetensors, FILE.npy (one value) or a folder NAME.zarr")
      ->type_name("FILE");
  a.saved_as_given =
      command
          .add_option("--save-as", a.saved_as, "numbers as they are recorded, or as 16-bit floats")
          ->check(CLI::IsMember({"recorded", "f16"}))
          ->capture_default_str();
  command.add_option("--json", a.json, "JSON with all numbers ('-': standard output)")
      ->type_name("FILE");
}

std::string axes_and_shape(const std::vector<std::string>& axes,
                           const std::vector<int64_t>& shape) {
  std::vector<std::string> parts;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    parts.push_back(fmt::format("{} {}", axes[axis], shape[axis]));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

void list_values(const ProbeArguments& a, const std::vector<ValueInfo>& values) {
  if (a.json == "-") throw InvalidInput("--list prints lines: leave out --json");
  size_t width = 0;
  for (const ValueInfo& value : values) width = std::max(width, value.name.size());
  std::string text;
  for (const ValueInfo& value : values) {
    text += fmt::format("{:<{}}  {}{}{}\n", printable(value.name), width,
                        axes_and_shape(value.axes, value.shape),
                        value.producer.empty() ? "" : "  " + value.producer,
                        value.native.empty() ? "" : "  " + printable(value.native));
  }
  print(text);
}

std::string line_of(const RecordedArray& array) {
  const std::string head =
      fmt::format("{}  {}", printable(array.name), axes_and_shape(array.axes, array.shape));
  constexpr int64_t kMostShown = 8;
  if (array.size() <= kMostShown) {
    std::vector<std::string> numbers;
    for (int64_t i = 0; i < array.size(); ++i) numbers.push_back(fmt::format("{:.6g}", array[i]));
    return fmt::format("{}  {}\n", head, fmt::join(numbers, " "));
  }
  double least = array[0], most = array[0], sum = 0;
  for (int64_t i = 0; i < array.size(); ++i) {
    least = std::min(least, array[i]);
    most = std::max(most, array[i]);
    sum += array[i];
  }
  return fmt::format("{}  mean {:.4g}, from {:.4g} to {:.4g}\n", head,
                     sum / static_cast<double>(array.size()), least, most);
}

ProbeRequest request_of_probe(const ProbeArguments& a, const Model& model,
                              const InputValue& input) {
  ProbeRequest request;
  for (const std::string& read : a.reads) request.reads.push_back(parse_read(read));
  request.gradients = a.gradients;
  request.relevance = a.relevance;
  request.policy = a.policy;
  if (!a.gradient_of.empty()) request.gradient_of = parse_read(a.gradient_of);
  ExplainRequest target;
  a.target.fill(target);
  if (a.input.arrays.given()) a.input.arrays.fill(target, a.input.model);
  if (!std::holds_alternative<std::monostate>(target.read_out))
    throw InvalidInput("--read-out says nothing here: values are read by their names");
  request.target = target.target;
  request.similar_to = target.similar_to;
  request.precision = a.precision == "double" ? Precision::kDouble : Precision::kSingle;
  request.most_bytes = a.most_megabytes << 20;
  request.edits = a.edits.read(model, input);
  return request;
}

void report_recording(const ProbeArguments& a, const Recording& recording) {
  for (const std::string& note : recording.notes) tell("note: " + note);
  if (!a.save.empty())
    save(a.save, recording, a.saved_as == "f16" ? SavedAs::kF16 : SavedAs::kRecorded);
  const std::string json = a.json.empty() ? "" : to_json(recording, a.json == "-" ? -1 : 2);
  OutputFiles files;
  files.add(a.json, [&] { return json; });
  files.write();
  if (a.json == "-") return print(json);
  std::string text =
      fmt::format("{} {:.4f}", printable(recording.target.label), recording.target.value);
  if (recording.target.probability)
    text += fmt::format(" ({:.1f} %)", 100 * *recording.target.probability);
  text += "\n";
  for (const std::string& edit : recording.edits) text += printable(edit) + "\n";
  for (const RecordedArray& array : recording.arrays) text += line_of(array);
  print(text);
  if (!a.save.empty()) tell("wrote " + a.save);
  files.name_them();
}

// What would be ignored is refused.
void check_probing(const ProbeArguments& a) {
  const bool reads = !a.reads.empty() || !a.gradients.empty() || !a.relevance.empty();
  if (a.list->count() > 0 && (reads || a.edits.given() || !a.save.empty())) {
    throw InvalidInput(
        "--list shows the names alone: leave out --read, --gradient, --relevance, --edit and "
        "--save");
  }
  if (a.gradients.empty() && !a.gradient_of.empty())
    throw InvalidInput("--gradient-of says what the gradient is of: name values with --gradient");
  if (a.relevance.empty() && a.policy_given->count() > 0)
    throw InvalidInput("--policy is of relevance: name values with --relevance");
  if (a.save.empty() && a.saved_as_given->count() > 0)
    throw InvalidInput("--save-as says how numbers are kept: name a file with --save");
  if (!reads && !a.save.empty())
    throw InvalidInput("--save keeps what is read: name values with --read");
}

void probe_input(const ProbeArguments& a, const Model& model, const InputValue& input) {
  if (a.list->count() > 0) return list_values(a, values_inside(model, input, a.listed()));
  if (a.reads.empty() && a.gradients.empty() && a.relevance.empty() && !a.edits.given()) {
    throw InvalidInput(
        "nothing is asked for: whyformer probe \"…\" --read \"blocks.*.output\"; --list shows the "
        "names");
  }
  ProbeRequest request = request_of_probe(a, model, input);
  const KeepAnswers keep;
  request.progress = [](int64_t, int64_t) { return !interrupted(); };
  report_recording(a, probe(model, input, request));
}

bool names_a_model(const std::string& word) {
  return built_in_named(word) || std::filesystem::is_directory(word) || word.ends_with(".onnx");
}

// MODEL TEXT, or MODEL alone where its values are listed or the input is given in another way.
void place_words(ProbeArguments& a) {
  std::string& model = a.input.model.model;
  TextArguments& text = a.input.text;
  const bool alone = a.list->count() > 0 || a.table.given() || text.has_text->count() > 0;
  if (a.has_second->count() > 0) {
    if (!model.empty())
      throw InvalidInput("the model is given twice: as the first argument and as --model");
    model = std::exchange(text.positional, a.second);
  } else if (model.empty() && alone && names_a_model(text.positional)) {
    model = text.positional;
    text.has_positional->clear();
  }
}

void run(ProbeArguments& a) {
  place_words(a);
  check_probing(a);
  check_outputs({a.save, a.json}, {a.edits.file});
  if (a.target.targets.size() > 1) throw InvalidInput("gradients are of one --target at a time");
  if (a.table.given()) {
    if (a.input.given()) throw InvalidInput("give a text, a picture or arrays, or a row; not both");
    const Model model = a.input.model.load_for_tables();
    const NamedTable rows = a.table.read(model);
    return probe_input(a, model, a.table.input(model, rows, a.table.row_in(rows)));
  }
  const std::optional<InputValue> input = a.input.given();
  if (input) return probe_input(a, a.input.load(*input), *input);
  if (a.list->count() > 0) return list_values(a, values_inside(a.input.model.load(), a.listed()));
  throw InvalidInput("no text or picture: whyformer probe \"…\" --read \"blocks.*.output\"");
}

}  // namespace

void add_probe(CLI::App& program) {
  auto arguments = std::make_shared<ProbeArguments>();
  CLI::App* command = program.add_subcommand("probe", "Read, and change, values inside the model");
  InputArguments& input = arguments->input;
  input.text.add_to(*command);
  arguments->has_second =
      command->add_option("INPUT", arguments->second,
                          "text, or picture file, where the argument in front of it is a model");
  input.picture.add_to(*command);
  arguments->table.add_to(*command);
  arguments->table.add_row_to(*command);
  input.arrays.add_to(*command);
  input.model.add_to(*command);
  add_probing(*command, *arguments);
  arguments->target.add_to(*command);
  input.picture.add_classes_to(*command);
  input.model.add_output_to(*command);
  input.arrays.add_element_to(*command);
  add_outputs_of(*command, *arguments);
  command->callback([arguments] { run(*arguments); });
}

}  // namespace whyformer::cli
