#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "console.h"
#include "line_reader.h"
#include "model_arguments.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer::cli {
namespace {

using Json = nlohmann::ordered_json;

// A line of --json input: a JSON string, or an object with "text" and perhaps "pair".
TextInput input_from_json(const std::string& line, int64_t number) {
  const Json json = Json::parse(line, nullptr, false);
  TextInput input;
  if (json.is_string()) {
    input.text = json.get<std::string>();
  } else if (json.is_object() && json.contains("text") && json["text"].is_string()) {
    input.text = json["text"].get<std::string>();
    if (json.contains("pair") && json["pair"].is_string()) {
      input.pair = json["pair"].get<std::string>();
    }
  } else {
    throw InvalidInput(fmt::format(
        "line {} {}must be a JSON string or an object with \"text\" and perhaps \"pair\"", number,
        line.empty() ? "is empty: it " : ""));
  }
  return input;
}

void print_json(const TokenizedText& tokens) {
  Json offsets = Json::array();
  for (const auto& [start, end] : tokens.offsets) offsets.push_back({start, end});
  const Json json{{"ids", tokens.ids}, {"tokens", tokens.tokens}, {"offsets", offsets}};
  print(printable_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n");
}

void print_table(const TokenizedText& tokens) {
  print(fmt::format("{:>5}{:>9}{:>7}{:>7}  {}\n", "", "id", "start", "end", "token"));
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    print(fmt::format("{:>5}{:>9}{:>7}{:>7}  {}\n", i, tokens.ids[i], tokens.offsets[i].first,
                      tokens.offsets[i].second, printable(tokens.tokens[i])));
  }
}

void tokenize_input(const TextTokenizer& tokenizer, bool as_json) {
  const KeepAnswers keep;
  LineReader lines("-");
  while (const auto line = lines.next()) {
    line->check_length();
    if (!as_json) {
      print_table(tokenizer.tokenize({line->text, {}}));
    } else {
      print_json(tokenizer.tokenize(input_from_json(line->text, line->number)));
    }
  }
  if (interrupted()) throw Interrupted();
}

}  // namespace

void add_tokenize(CLI::App& program) {
  struct Arguments {
    std::string model;
    TextArguments text;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = program.add_subcommand(
      "tokenize", "Show how a text becomes tokens (from an argument, or standard input)");
  command
      ->add_option("-m,--model", arguments->model,
                   "folder with a tokenizer (default: the built-in sentiment model)")
      ->type_name("DIR");
  arguments->text.add_to(*command);
  arguments->text.has_positional->description("text");
  arguments->text.has_pair->description("second text of a pair");
  command->add_flag("--json", arguments->json,
                    "standard input holds a JSON string, or {\"text\", \"pair\"}, per line; the "
                    "answer is a JSON line each");
  command->callback([arguments] {
    const TextTokenizer tokenizer = arguments->model.empty() || arguments->model == "sentiment"
                                        ? TextTokenizer::built_in()
                                        : TextTokenizer::load(arguments->model);
    const std::optional<TextInput> input = arguments->text.given();
    if (!input) return tokenize_input(tokenizer, arguments->json);
    const TokenizedText tokens = tokenizer.tokenize(*input);
    if (arguments->json)
      print_json(tokens);
    else
      print_table(tokens);
  });
}

}  // namespace whyformer::cli
