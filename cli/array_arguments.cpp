#include "array_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "whyformer/error.h"

namespace whyformer::cli {

void ArrayArguments::add_to(CLI::App& command) {
  CLI::Option* given =
      command
          .add_option("--inputs", inputs,
                      "safetensors file with the inputs of an ONNX model of any kind, by name")
          ->type_name("FILE");
  command.add_option("--output", output, "which output (default: the logits)")->needs(given);
  command
      .add_option("--element", element,
                  "which element of it, one number per axis (default: the largest)")
      ->delimiter(',')
      ->needs(given);
}

void ArrayArguments::check(const std::string& model) const {
  if (model.empty()) throw InvalidInput("--inputs goes with an ONNX file: --model model.onnx");
}

std::string to_json(const ArrayExplanation& explanation) {
  nlohmann::ordered_json streams = nlohmann::ordered_json::array();
  for (const StreamScores& stream : explanation.streams) {
    streams.push_back({{"stream", stream.stream}, {"units", stream.units}, {"scores", stream.scores}});
  }
  const nlohmann::ordered_json json{
      {"schema", ArrayExplanation::kSchema},
      {"model",
       {{"name", explanation.info.model.name}, {"architecture", explanation.info.model.architecture}}},
      {"target",
       {{"output", explanation.output},
        {"indices", explanation.indices},
        {"value", explanation.value}}},
      {"read_out", explanation.info.read_out},
      {"method", explanation.method},
      {"streams", streams}};
  return json.dump(2) + "\n";
}

std::string to_terminal(const ArrayExplanation& explanation) {
  constexpr size_t kMostShown = 12;
  constexpr int kWidth = 30;
  std::string text = fmt::format("{}[{}] = {:.4f} of {}, read out: {}\n", explanation.output,
                                 fmt::join(explanation.indices, ","), explanation.value,
                                 explanation.info.model.name, explanation.info.read_out);
  for (const StreamScores& stream : explanation.streams) {
    std::vector<size_t> order(stream.scores.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return stream.scores[a] > stream.scores[b]; });
    const double most = order.empty() ? 0 : stream.scores[order[0]];
    text += fmt::format("\n{}: stream {}, {}\n", explanation.method, stream.stream, stream.units);
    if (most <= 0) {
      text += "  nothing reaches the output from here\n";
      continue;
    }
    for (size_t i = 0; i < std::min(order.size(), kMostShown); ++i) {
      const double score = stream.scores[order[i]];
      std::string bar;
      for (int step = 0; step < static_cast<int>(kWidth * score / most + 0.5); ++step) bar += "█";
      text += fmt::format("  token {:>4}  {:.6f}  {}\n", order[i], score, bar);
    }
    if (order.size() > kMostShown) {
      text += fmt::format("  … {} more; --json - has them all\n", order.size() - kMostShown);
    }
  }
  return text;
}

}  // namespace whyformer::cli
