// What was found in a model, in words.
#include "readers/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "discovery/sampled_attention.h"
#include "models/model_files.h"

namespace whyformer {
namespace {

std::string words_for(const StreamSegment& segment) {
  const std::string of = segment.input.empty() ? "" : " of " + segment.input;
  switch (segment.kind) {
    case StreamSegment::Kind::kTokens:
      return "tokens" + of;
    case StreamSegment::Kind::kPatches:
      return fmt::format("{} patches{}", fmt::join(segment.grid, " × "), of);
    case StreamSegment::Kind::kFrames:
      return "frames" + of;
    case StreamSegment::Kind::kFeatures:
      return "positions" + of;
    case StreamSegment::Kind::kLearned:
      return fmt::format("{} learned", segment.length);
    case StreamSegment::Kind::kUnknown:
      break;
  }
  return "not recognised" + (of.empty() ? "" : ", from" + of.substr(3));
}

std::string units_of(const Stream& stream) {
  std::string text;
  for (const StreamSegment& segment : stream.segments) {
    text += (text.empty() ? "" : " + ") + words_for(segment);
  }
  return text;
}

// Runs of tokens that count alike: "token 0 and mean over tokens 1 to 16".
std::string shared_tokens(const std::vector<double>& shares) {
  std::string text;
  for (size_t begin = 0, end = 0; begin < shares.size(); begin = end) {
    while (end < shares.size() && shares[end] == shares[begin]) ++end;
    if (shares[begin] == 0) continue;
    const bool alone = end == begin + 1;
    // Two tokens that count half each are read one by one.
    const bool one_by_one = shares[begin] * static_cast<double>(end - begin) > 0.999;
    text += text.empty() ? "" : " and ";
    text += alone        ? fmt::format("token {}", begin)
            : one_by_one ? fmt::format("tokens {} to {}", begin, end - 1)
                         : fmt::format("mean over tokens {} to {}", begin, end - 1);
  }
  return text;
}

std::string read_out_of(const Discovery& found) {
  const ReadOut& read_out = found.read_out;
  const std::string of = found.streams.size() > 1 && read_out.stream >= 0
                             ? fmt::format(" of stream {}", read_out.stream)
                             : "";
  switch (read_out.kind) {
    case ReadOut::Kind::kRow:
      return fmt::format("token {}", read_out.row) + of;
    case ReadOut::Kind::kMean:
      if (read_out.stream < 0 || read_out.rows == found.streams[read_out.stream].tokens) {
        return "mean over tokens" + of;
      }
      return fmt::format("mean over tokens {} to {}", read_out.row,
                         read_out.row + read_out.rows - 1) +
             of;
    case ReadOut::Kind::kWeights:
      return "mean over tokens" + of;
    case ReadOut::Kind::kShares:
      return shared_tokens(read_out.shares) + of;
    case ReadOut::Kind::kChosen:
      return "a token that depends on the input" + of;
    case ReadOut::Kind::kEach:
      return "one answer per token" + of;
    case ReadOut::Kind::kUnknown:
      break;
  }
  return "not recognised";
}

}  // namespace

std::string architecture_name(const Config& config) {
  return config.architecture().empty() ? config.model_type() : config.architecture();
}

namespace {

void describe(const Discovery& found, ModelInfo& info) {
  std::set<std::pair<int, int>> directions;
  for (const AttentionSite& site : found.sites) {
    directions.emplace(site.query_stream, site.key_stream);
  }
  for (const AttentionSite& site : found.sites) {
    const bool both_ways = directions.contains({site.key_stream, site.query_stream});
    const std::string kind = site.is_self_attention() ? "self" : both_ways ? "co" : "cross";
    info.sites.push_back({.name = site.name,
                          .heads = site.heads,
                          .queries = site.queries,
                          .keys = site.keys,
                          .windows = site.windows,
                          .query_stream = site.query_stream,
                          .key_stream = site.key_stream,
                          .causal = site.causal,
                          .kind = kind});
  }
  for (const Stream& stream : found.streams) {
    const int64_t windows = stream.sites.empty() ? 1 : found.sites[stream.sites[0]].windows;
    const std::string inside = windows > 1 ? fmt::format("{} windows of ", windows) : "";
    info.streams.push_back({stream.tokens, inside + units_of(stream), stream.sites});
  }
  info.read_out = read_out_of(found);
  for (size_t i = 0; i < found.streams.size(); ++i) {
    for (const StreamSegment& segment : found.streams[i].segments) {
      if (segment.kind != StreamSegment::Kind::kUnknown) continue;
      info.notes.push_back(fmt::format("Where {} tokens of stream {} come from was not recognised.",
                                       segment.length, i));
    }
  }
  for (const AttentionSite& site : found.sites) {
    if (!site.first_key) continue;
    info.notes.push_back(
        fmt::format("Attention '{}' has {} keys beside the tokens of stream {}, learned or given: "
                    "methods that read attention leave them out.",
                    site.name, site.keys - found.streams[site.key_stream].tokens, site.key_stream));
  }
  if (found.sites.empty()) {
    info.notes.push_back("No attention was found in the graph.");
  } else if (found.read_out.kind == ReadOut::Kind::kUnknown) {
    info.notes.push_back("How the output reads the tokens was not recognised.");
  }
}

}  // namespace

std::string task_of(std::optional<Problem> problem, const std::string& input) {
  if (!problem) return input + " embedding (no classifier)";
  if (*problem == Problem::kMultiLabel) return "multi-label classification";
  if (*problem == Problem::kOneLogit) return "binary classification (one logit)";
  return *problem == Problem::kRegression ? "regression" : "single-label classification";
}

void note_sampled_attention(const Graph& graph, std::vector<std::string>& notes) {
  const std::vector<std::string> names = sampled_attention(graph);
  if (names.empty()) return;
  notes.push_back(
      fmt::format("{} deformable attention{} (first '{}') weigh{} points sampled from a map: there "
                  "is no map over tokens, so methods that read attention do not see {}.",
                  names.size(), names.size() == 1 ? "" : "s", names[0],
                  names.size() == 1 ? "s" : "", names.size() == 1 ? "it" : "them"));
}

ModelInfo describe(const GraphSource& source, const std::string& input, const ModelGraph& graph) {
  const SourceFacts& facts = source.facts();
  ModelInfo info;
  info.model = {facts.name, facts.architecture};
  info.task = task_of(facts.problem, input);
  info.outputs = facts.output_names;
  info.parameters = source.parameter_count();
  info.tensors = source.tensor_count();
  describe(graph.found, info);
  info.notes.insert(info.notes.end(), facts.notes.begin(), facts.notes.end());
  return info;
}

ModelInfo describe(const OnnxProbe& probe, const std::filesystem::path& file) {
  ModelInfo info;
  info.model.name = std::filesystem::weakly_canonical(file).filename().string();
  info.model.architecture = architecture_name(config_of(files_of_model(file)));
  info.opset = probe.file.opset();
  const onnx::ParameterCount parameters = probe.file.parameters();
  info.parameters = parameters.numbers;
  info.tensors = parameters.tensors;
  for (const onnx::DeclaredValue& input : probe.file.graph.inputs) {
    info.inputs.push_back({input.name, onnx::name_of(input.type), probe.shapes.at(input.name)});
  }
  for (const auto& output : probe.file.graph.outputs) {
    if (!probe.outputs.contains(output.name)) continue;
    const Shape& shape = probe.graph.shape(probe.outputs.at(output.name));
    info.outputs.push_back(fmt::format("{} {}", output.name, to_string(shape)));
  }
  describe(probe.found, info);
  note_sampled_attention(probe.graph, info.notes);
  for (const auto& [name, place] : probe.batches) {
    const char* guess = place.sure ? "" : " This is a guess.";
    if (place.axis == BatchAxis::kSecond) {
      info.notes.push_back(
          fmt::format("The input '{}' has its tokens in front of the batch: [tokens, batch, …].{}",
                      name, guess));
    } else if (place.axis == BatchAxis::kNone) {
      info.notes.push_back(fmt::format(
          "The input '{}' has no axis for a batch: it is one input alone.{}", name, guess));
    } else if (!place.sure) {
      info.notes.push_back(
          fmt::format("The first axis of '{}' is taken for a batch.{}", name, guess));
    }
  }
  return info;
}

}  // namespace whyformer
