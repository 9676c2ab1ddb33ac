#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "array_arguments.h"
#include "command.h"
#include "console.h"
#include "model_arguments.h"
#include "option_groups.h"
#include "output_files.h"
#include "whyformer/error.h"
#include "whyformer/lengths.h"
#include "whyformer/printable.h"
#include "whyformer/relevance.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

nlohmann::ordered_json json_of(const ModelInfo& info) {
  using Json = nlohmann::ordered_json;
  Json sites = Json::array(), streams = Json::array(), inputs = Json::array();
  for (const SiteInfo& site : info.sites) {
    sites.push_back({{"name", site.name},
                     {"heads", site.heads},
                     {"kind", site.kind},
                     {"causal", site.causal},
                     {"queries", site.queries},
                     {"keys", site.keys},
                     {"windows", site.windows},
                     {"query_stream", site.query_stream},
                     {"key_stream", site.key_stream}});
  }
  for (const StreamInfo& stream : info.streams) {
    streams.push_back(
        {{"tokens", stream.tokens}, {"units", stream.units}, {"sites", stream.sites}});
  }
  for (const InputInfo& input : info.inputs) {
    inputs.push_back({{"name", input.name}, {"type", input.type}, {"shape", input.shape}});
  }
  return {{"model", {{"name", info.model.name}, {"architecture", info.model.architecture}}},
          {"task", info.task},
          {"opset", info.opset},
          {"inputs", inputs},
          {"outputs", info.outputs},
          {"parameters", info.parameters},
          {"tensors", info.tensors},
          {"vocabulary", info.vocabulary},
          {"max_tokens", info.max_tokens},
          {"attention", sites},
          {"streams", info.streams.size()},
          {"stream_list", streams},
          {"read_out", info.read_out},
          {"notes", info.notes}};
}

// Names in a file may be anything, also no UTF-8.
std::string text_of(const nlohmann::ordered_json& json) {
  return printable_json(
             json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         "\n";
}

std::string outputs_line(const std::vector<std::string>& outputs) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(outputs.size(), 10); ++i) {
    text += (i == 0 ? "" : ", ") + outputs[i];
  }
  if (outputs.size() > 10) text += fmt::format(", … ({} in all)", outputs.size());
  return text;
}

std::string inputs_line(const std::vector<InputInfo>& inputs) {
  std::string text;
  for (const InputInfo& input : inputs) {
    if (text.size() > 400) return text + fmt::format(", … ({} in all)", inputs.size());
    text += fmt::format("{}{} [{}]", text.empty() ? "" : ", ", input.name,
                        fmt::join(input.shape, ", "));
  }
  return text;
}

void print_streams(const ModelInfo& info) {
  print(fmt::format("\nstreams of tokens: {}\n", info.streams.size()));
  for (size_t i = 0; i < info.streams.size(); ++i) {
    const StreamInfo& stream = info.streams[i];
    print(fmt::format("{:>4}  {:>4} tokens  {:>3} {:<5}  {}\n", i, stream.tokens,
                      stream.sites.size(), stream.sites.size() == 1 ? "site" : "sites",
                      printable(stream.units)));
  }
}

void print_sites(const ModelInfo& info) {
  print(fmt::format("\nattention sites found in the graph: {}\n", info.sites.size()));
  for (size_t i = 0; i < info.sites.size(); ++i) {
    const SiteInfo& site = info.sites[i];
    const std::string streams =
        site.self_attention() ? fmt::format("stream {}", site.query_stream)
                              : fmt::format("{} reads {}", site.query_stream, site.key_stream);
    std::string more = site.causal ? "causal  " : "";
    if (site.windows > 1) more += fmt::format("{} windows  ", site.windows);
    print(fmt::format("{:>4}  {:>3} {:<5}  {:<5}  {:<11}{}{}\n", i, site.heads,
                      site.heads == 1 ? "head" : "heads", site.kind, streams, more,
                      printable(site.name)));
  }
}

void print_info(const ModelInfo& info) {
  const auto line = [](std::string_view what, const std::string& value) {
    if (!value.empty()) print(fmt::format("{:<14}{}\n", what, printable(value)));
  };
  line("model", info.model.name);
  line("architecture", info.model.architecture);
  line("task", info.task);
  if (info.opset > 0) line("format", fmt::format("ONNX, opset {}", info.opset));
  line("inputs", inputs_line(info.inputs));
  line("outputs", outputs_line(info.outputs));
  const auto parameters = static_cast<double>(info.parameters);
  const std::string tensors =
      fmt::format("{} tensor{}", info.tensors, info.tensors == 1 ? "" : "s");
  line("parameters", parameters < 1e5
                         ? fmt::format("{} in {}", info.parameters, tensors)
                         : fmt::format("{:.1f} million in {}", parameters / 1e6, tensors));
  if (info.vocabulary > 0) line("vocabulary", fmt::format("{} tokens", info.vocabulary));
  if (info.max_tokens > 0) line("longest text", fmt::format("{} tokens", info.max_tokens));
  line("read-out", info.read_out);
  for (const std::string& note : info.notes) line("note", note);
  print_streams(info);
  print_sites(info);
}

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

nlohmann::ordered_json json_of(const RelevanceReport& report) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const RelevanceStep& step : report.steps) {
    steps.push_back({{"node", step.node},
                     {"operator", step.op},
                     {"rule", step.rule},
                     {"entering", step.entering},
                     {"leaving", step.leaving},
                     {"entering_magnitude", step.entering_magnitude},
                     {"leaving_magnitude", step.leaving_magnitude}});
  }
  return {{"model", {{"name", report.model.name}, {"architecture", report.model.architecture}}},
          {"policy", report.policy},
          {"target", {{"index", report.target.index}, {"label", report.target.label}}},
          {"seed", report.seed},
          {"at_first_layer", report.at_first_layer},
          {"at_words", report.at_words},
          {"notes", report.notes},
          {"steps", steps}};
}

// Steps that only move relevance have nothing to tell; those that lose some are marked.
void print_report(const RelevanceReport& report) {
  print(fmt::format("relevance of \"{}\" by the policy {}: starts with {:.4g}\n\n",
                    printable(report.target.label), printable(report.policy), report.seed));
  print(fmt::format("{:>12}{:>12}{:>12}  {:<11}{:<17}{}\n", "entering", "leaving", "size out",
                    "operator", "rule", "node"));
  for (const RelevanceStep& step : report.steps) {
    if (step.rule == "move") continue;
    const double loss = step.loss();
    std::string mark;
    if (std::abs(loss) > 1e-4) {
      mark = fmt::format("  {} {:.2g} %", loss > 0 ? "loses" : "adds", 100 * std::abs(loss));
    }
    print(fmt::format("{:>12.4g}{:>12.4g}{:>12.4g}  {:<11}{:<17}{}{}\n", step.entering,
                      step.leaving, step.leaving_magnitude, step.op, step.rule,
                      printable(step.node), mark));
  }
  print(fmt::format("\nat the first layer {:.6g}, at the word vectors {:.6g}\n",
                    report.at_first_layer, report.at_words));
  for (const std::string& note : report.notes) print(fmt::format("note: {}\n", printable(note)));
}

struct InspectArguments {
  std::string folder, model, policy = "chefer", text = kSampleText, target, precision = "single";
  std::string svg, png, html;
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

void write_pictures(const ModelInfo& info, const InspectArguments& arguments) {
  OutputFiles files;
  files.add(arguments.svg, [&] { return model_picture(info, PictureFormat::kSvg); });
  files.add(arguments.png, [&] { return model_picture(info, PictureFormat::kPng); });
  files.add(arguments.html, [&] { return to_html(info); });
  const KeepAnswers keep;
  files.write();
}

void inspect_relevance(const Model& model, const InspectArguments& arguments) {
  ExplainRequest request;
  if (!arguments.target.empty()) request.target = arguments.target;
  if (arguments.precision == "double") request.precision = Precision::kDouble;
  const RelevanceReport report =
      relevance_report(model, TextInput{arguments.text, {}}, arguments.policy, request);
  if (arguments.json)
    print(text_of(json_of(report)));
  else
    print_report(report);
}

void add_arguments(CLI::App& command, InspectArguments& a) {
  start_group(command, OptionGroup::kModel);
  command.add_option("MODEL", a.folder,
                     "HuggingFace model folder or ONNX file (default: the built-in sentiment "
                     "model)");
  command.add_option("-m,--model", a.model, "the same, as an option")->type_name("MODEL");
  start_group(command, OptionGroup::kInput);
  command.add_option("--shape", a.shapes, "shape of an ONNX input that the file leaves open")
      ->type_name("NAME=1,3,224,224");
  a.batch_axis.add_to(command);
  start_group(command, OptionGroup::kOutput);
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
      "--relevance", a.relevance, "relevance that enters and leaves every operator, instead");
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
  check_outputs({a.svg, a.png, a.html}, {folder});
  if (a.relevance) {
    return inspect_relevance(folder.empty() ? Model::built_in() : Model::load(folder), a);
  }
  const ModelInfo info = folder.empty() ? Model::built_in().inspect() : inspected(folder, a);
  write_pictures(info, a);
  if (a.json)
    print(text_of(json_of(info)));
  else
    print_info(info);
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
