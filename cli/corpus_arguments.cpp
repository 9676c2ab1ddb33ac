#include "corpus_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "input_arguments.h"
#include "labelled_texts.h"
#include "option_groups.h"
#include "picture_masks.h"
#include "whyformer/error.h"
#include "whyformer/protocols.h"

namespace whyformer::cli {
namespace {

std::vector<TextSpan> spans_of(const std::vector<std::pair<int64_t, int64_t>>& rationales) {
  std::vector<TextSpan> spans;
  for (const auto& [start, end] : rationales) spans.push_back({start, end, 0});
  return spans;
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

// Told of a picture without a mask where others have one.
std::vector<std::string> no_mask(const Explanation&) {
  return {"the picture has no mask: localisation is not defined"};
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
void CorpusArguments::add_masks(const std::vector<CorpusEntry>& all,
                                std::vector<Entry>& corpus) const {
  const PictureMasks found(masks, all);
  bool any = false;
  for (size_t i = 0; i < corpus.size(); ++i) {
    if (!all[i].problem.empty()) continue;
    const std::optional<std::filesystem::path> mask = found.of(all[i]);
    if (mask) {
      add_known_mask(corpus[i].input, PictureFile{*mask});
      any = true;
    } else {
      corpus[i].input.oddities = no_mask;
    }
  }
  const auto first = std::ranges::find(all, std::string(), &CorpusEntry::problem);
  if (any || first == all.end()) return;
  throw FileError(fmt::format("no picture has a mask in '{}': expected files such as '{}'", masks,
                              found.expected(*first).lexically_relative(masks).string()));
}

std::vector<CorpusArguments::Entry> CorpusArguments::read_lines() const {
  const bool of_pictures = !pictures.empty();
  // Whether a mask belongs to one picture alone is told by all of them.
  const std::vector<CorpusEntry> all =
      read_corpus(of_pictures ? pictures : file,
                  {.limit = masks.empty() ? examples : 0,
                   .kind = of_pictures ? CorpusKind::kPictures : CorpusKind::kAny,
                   .without = masks});
  std::vector<Entry> corpus;
  for (const CorpusEntry& entry : all) {
    if (examples > 0 && static_cast<int64_t>(corpus.size()) == examples) break;
    const LabelledInput& labelled = entry.input;
    Entry next{{.name = labelled.place, .input = labelled.input}, entry.problem};
    if (explain_labels && labelled.labels) next.input.target = labelled.labels->front();
    if (labelled.labels) next.input.label = labelled.labels->front();
    if (!entry.mask.empty() && masks.empty()) {
      add_known_mask(next.input, PictureFile{entry.mask});
    }
    if (labelled.rationales) add_known_spans(next.input, spans_of(*labelled.rationales));
    corpus.push_back(std::move(next));
  }
  if (!masks.empty()) add_masks(all, corpus);
  return corpus;
}

// Rows that cannot be read keep their place among the others.
std::vector<CorpusArguments::Entry> CorpusArguments::read_rows() const {
  const Model model = load_table_model();
  const SoundRows found = table.read_sound(model);
  const int64_t sound = found.rows.table.rows;
  const int64_t all = sound + static_cast<int64_t>(found.broken.size());
  const int64_t count = examples > 0 ? std::min(examples, all) : all;
  std::vector<RowInput> inputs = table.inputs(model, found.rows, std::min(sound, count));
  std::vector<Entry> corpus;
  auto broken = found.broken.begin();
  auto input = inputs.begin();
  for (int64_t row = 0; row < count; ++row) {
    Entry entry{{.name = fmt::format("row {}", row), .input = RowInput{}}, {}};
    if (broken != found.broken.end() && broken->number == row)
      entry.problem = (broken++)->problem;
    else
      entry.input.input = std::move(*input++);
    corpus.push_back(std::move(entry));
  }
  return corpus;
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
  return table.given() ? read_rows() : read_lines();
}

Model CorpusArguments::load_table_model() const {
  if (!table_model) table_model = model.load_for_tables();
  return *table_model;
}

Model CorpusArguments::load(const std::vector<Entry>& corpus) const {
  if (table.given()) return load_table_model();
  return is_picture(first_of(corpus)) ? model.load_for_pictures() : model.load();
}

const InputValue& CorpusArguments::first_of(const std::vector<Entry>& corpus) {
  const auto sound = std::ranges::find(corpus, std::string(), &Entry::problem);
  return sound == corpus.end() ? corpus[0].input.input : sound->input.input;
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
