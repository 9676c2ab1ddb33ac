#include "corpus_arguments.h"

#include <fmt/format.h>

#include <filesystem>

#include "input_arguments.h"
#include "labelled_texts.h"
#include "option_groups.h"
#include "whyformer/error.h"
#include "whyformer/protocols.h"

namespace whyformer::cli {
namespace {

// The mask of a picture has its name, as a PNG.
std::filesystem::path mask_in(const std::string& masks, const InputValue& input) {
  const auto* pair = std::get_if<PictureWithText>(&input);
  const auto& picture =
      std::get<PictureFile>(pair != nullptr ? pair->picture : std::get<PictureInput>(input));
  return std::filesystem::path(masks) / (picture.path.stem().string() + ".png");
}

KnownRegion region_in(const std::string& masks, const InputValue& input) {
  const std::filesystem::path mask = mask_in(masks, input);
  if (!std::filesystem::exists(mask)) return {};
  return region_of_mask(PictureFile{mask});
}

std::vector<TextSpan> spans_of(const std::vector<std::pair<int64_t, int64_t>>& rationales) {
  std::vector<TextSpan> spans;
  for (const auto& [start, end] : rationales) spans.push_back({start, end, 0});
  return spans;
}

KnownRegion region_of(const LabelledInput& labelled) {
  if (!labelled.rationales) return {};
  return region_of_spans(spans_of(*labelled.rationales));
}

// What protocols know of an input: the object's pixels, and the words of the rationale.
void add_known_places(const LabelledInput& labelled, const std::string& masks,
                      EvaluationInput& input) {
  if (!masks.empty() && is_picture(labelled.input)) {
    const std::filesystem::path mask = mask_in(masks, labelled.input);
    if (std::filesystem::exists(mask)) input.pixels = pixels_of_mask(PictureFile{mask});
  }
  if (const auto* text = std::get_if<TextInput>(&labelled.input); text && labelled.rationales) {
    input.words = mark_words(text->text, spans_of(*labelled.rationales));
  }
}

// "METHOD.NAME=VALUE" goes to the method of that name.
void add_option(ExplainRequest& request, const std::string& assignment) {
  const size_t dot = assignment.find('.');
  for (MethodRequest& asked : request.methods) {
    if (dot == std::string::npos || asked.name != assignment.substr(0, dot)) continue;
    const Options values =
        parse_option(method_named(asked.name), std::string_view(assignment).substr(dot + 1));
    asked.options.insert(asked.options.end(), values.begin(), values.end());
    return;
  }
  throw InvalidInput(
      fmt::format("option '{}': write METHOD.NAME=VALUE, with a method of --method", assignment));
}

}  // namespace

void CorpusArguments::add_inputs_to(CLI::App& command) {
  start_group(command, OptionGroup::kInput);
  command
      .add_option("-f,--file", file,
                  "texts, one per line ('-': standard input): text, text<TAB>label, or JSON with "
                  "text, pair, label, rationales ([[start, end], …], characters of the text)")
      ->type_name("FILE");
  CLI::Option* has_pictures =
      command.add_option("--pictures", pictures, "folder or list of pictures")->type_name("DIR");
  command
      .add_option("--masks", masks,
                  "folder with a PNG of the same name for each picture, 0 outside the object")
      ->needs(has_pictures)
      ->type_name("DIR");
  table.add_to(command);
  command.add_option("--examples", examples, "maximum number of inputs")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command.add_flag("--labels", explain_labels,
                   "explain the label of each input instead of the highest output");
  model.add_to(command);
}

void CorpusArguments::add_methods_to(CLI::App& command) {
  start_group(command, OptionGroup::kMethods);
  command
      .add_option("--method", methods,
                  "methods, separated by commas, also METHOD:PRESET; see 'whyformer methods'")
      ->delimiter(',')
      ->type_name("NAMES");
  command
      .add_option("-o,--option", options,
                  "option of a method, such as rollout.start=1; may be repeated")
      ->type_name("METHOD.NAME=VALUE");
  command.add_option("--seed", seed, "seed of all random draws")->capture_default_str();
  command.add_option("--memory", memory_megabytes, "memory for batches of perturbed inputs")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->capture_default_str()
      ->type_name("MB");
}

void CorpusArguments::add_data_sets_to(CLI::App& command) {
  start_group(command, OptionGroup::kInput);
  CLI::Option* has_data =
      command.add_option("--data", data, "ERASER folder: docs and test.jsonl")->type_name("DIR");
  command.add_option("--split", split, "train, val or test")
      ->needs(has_data)
      ->check(CLI::IsMember({"train", "val", "test"}))
      ->capture_default_str();
}

// A wrong folder would leave every metric of localisation undefined.
void CorpusArguments::check_masks(const std::vector<Entry>& corpus) const {
  if (masks.empty()) return;
  if (!std::filesystem::is_directory(masks))
    throw FileError(fmt::format("cannot read '{}': there is no such folder", masks));
  std::string missing;
  for (const Entry& entry : corpus) {
    if (!is_picture(entry.input.input)) continue;
    const std::filesystem::path mask = mask_in(masks, entry.input.input);
    if (std::filesystem::exists(mask)) return;
    if (missing.empty()) missing = mask.filename().string();
  }
  if (missing.empty()) return;
  throw FileError(
      fmt::format("no picture has a mask in '{}': expected files such as '{}'", masks, missing));
}

std::vector<CorpusArguments::Entry> CorpusArguments::read() const {
  const int given = (file.empty() ? 0 : 1) + (pictures.empty() ? 0 : 1) + (table.given() ? 1 : 0) +
                    (data.empty() ? 0 : 1);
  if (given != 1) {
    throw InvalidInput(given == 0
                           ? "no inputs: give --file texts.tsv, --pictures DIR or --table rows.csv"
                           : "give one of --file, --pictures, --table and --data");
  }
  table.refuse_without_table();
  if (!data.empty()) return read_eraser(data, split, examples);
  std::vector<Entry> corpus;
  if (table.given()) {
    const Model model = load_table_model();
    const NamedTable rows = table.read(model);
    const int64_t count = examples > 0 ? std::min(examples, rows.table.rows) : rows.table.rows;
    for (RowInput& input : table.inputs(model, rows, count)) {
      corpus.push_back({{fmt::format("row {}", corpus.size()), std::move(input)}, {}});
    }
    return corpus;
  }
  for (CorpusEntry& entry : read_corpus(pictures.empty() ? file : pictures, examples)) {
    LabelledInput& labelled = entry.input;
    Entry next{{.name = labelled.place, .input = labelled.input}, entry.problem};
    if (explain_labels && labelled.labels) next.input.target = labelled.labels->front();
    if (labelled.labels) next.input.label = labelled.labels->front();
    add_known_places(labelled, masks, next.input);
    next.input.region = !masks.empty() && is_picture(labelled.input)
                            ? region_in(masks, labelled.input)
                            : region_of(labelled);
    corpus.push_back(std::move(next));
  }
  if (corpus.empty()) throw InvalidInput(fmt::format("there is no picture in '{}'", pictures));
  check_masks(corpus);
  return corpus;
}

Model CorpusArguments::load_table_model() const {
  if (!table_model) table_model = model.load_for_tables();
  return *table_model;
}

Model CorpusArguments::load(const std::vector<Entry>& corpus) const {
  if (table.given()) return load_table_model();
  return is_picture(corpus[0].input.input) ? model.load_for_pictures() : model.load();
}

ExplainRequest CorpusArguments::request(const std::vector<std::string>& fallback) const {
  ExplainRequest request;
  for (const std::string& name : methods.empty() ? fallback : methods) {
    if (name.empty()) continue;
    method_named(name);  // says so where there is none
    request.methods.push_back({name, {}});
  }
  for (const std::string& option : options) add_option(request, option);
  request.seed = seed;
  request.memory_bytes = memory_megabytes << 20;
  return request;
}

}  // namespace whyformer::cli
