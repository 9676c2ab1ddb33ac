#include "readers/tokenizers/post_processor.h"

#include <algorithm>
#include <map>

namespace whyformer::tokenization {
namespace {

TemplateStep text(int64_t type_id) {
  return {.kind = TemplateStep::Kind::kText, .type_id = type_id};
}
TemplateStep pair_text(int64_t type_id) {
  return {.kind = TemplateStep::Kind::kPair, .type_id = type_id};
}
TemplateStep special(int64_t id, int64_t type_id) {
  return {.kind = TemplateStep::Kind::kSpecial, .type_id = type_id, .ids = {id}};
}

// ["[CLS]", 101]
int64_t read_token_and_id(const JsonFields& fields, std::string_view name) {
  const Json& value = fields.list(name);
  if (value.size() != 2 || !value[0].is_string()) fields.fail(name, "a token and its id");
  return checked_id(value[1], fields.file(), fmt::format("the id of '{}'", name));
}

using SpecialTokenIds = std::map<std::string, std::vector<int64_t>>;

SpecialTokenIds read_special_tokens(const JsonFields& fields) {
  SpecialTokenIds tokens;
  const Json& table = fields.required("special_tokens");
  if (!table.is_object()) fields.fail("special_tokens", "an object");
  for (const auto& [name, value] : table.items()) {
    const JsonFields token(value, fields.file(), "a special token of the template");
    for (const Json& id : token.list("ids")) {
      tokens[name].push_back(checked_id(id, fields.file(), "the id of a special token"));
    }
  }
  return tokens;
}

TemplateStep read_step(const Json& json, const SpecialTokenIds& tokens, std::string_view file) {
  const JsonFields fields(json, file, "a step of the template");
  if (const Json* sequence = fields.find("Sequence")) {
    const JsonFields step(*sequence, file, "a sequence of the template");
    return step.text("id") == "A" ? text(step.number("type_id"))
                                  : pair_text(step.number("type_id"));
  }
  const JsonFields step(fields.required("SpecialToken"), file, "a special token of the template");
  const auto found = tokens.find(step.text("id"));
  if (found == tokens.end()) {
    throw FileError(
        fmt::format("'{}': the template uses '{}', which its special_tokens do not list", file,
                    step.text("id")));
  }
  return {.kind = TemplateStep::Kind::kSpecial,
          .type_id = step.number("type_id"),
          .ids = found->second};
}

// A text that a template repeats, and special tokens without number, would make any text as long as
// a file likes.
void check_template(const Template& form, std::string_view file) {
  constexpr int64_t kMostTexts = 16, kMostSpecialTokens = 4096;
  int64_t texts = 0, specials = 0;
  for (const TemplateStep& step : form) {
    texts += step.kind == TemplateStep::Kind::kSpecial ? 0 : 1;
    specials += static_cast<int64_t>(step.ids.size());
  }
  if (texts <= kMostTexts && specials <= kMostSpecialTokens) return;
  throw UnsupportedModel(fmt::format(
      "'{}': a template with {} texts and {} special tokens; at most {} and {} are supported", file,
      texts, specials, kMostTexts, kMostSpecialTokens));
}

PostProcessor read_template(const JsonFields& fields) {
  const SpecialTokenIds tokens = read_special_tokens(fields);
  PostProcessor processor{.single = {}, .pair = {}};
  for (const Json& step : fields.list("single"))
    processor.single.push_back(read_step(step, tokens, fields.file()));
  for (const Json& step : fields.list("pair"))
    processor.pair.push_back(read_step(step, tokens, fields.file()));
  check_template(processor.single, fields.file());
  check_template(processor.pair, fields.file());
  const auto is_pair = [](const TemplateStep& step) {
    return step.kind == TemplateStep::Kind::kPair;
  };
  if (std::any_of(processor.single.begin(), processor.single.end(), is_pair)) {
    throw FileError(
        fmt::format("'{}': the template for a single text uses the second one", fields.file()));
  }
  return processor;
}

PostProcessor read_sequence(const JsonFields& fields) {
  PostProcessor whole;
  bool has_template = false;
  for (const Json& json : fields.list("processors")) {
    const std::string type = JsonFields(json, fields.file(), "a post-processor").text("type");
    PostProcessor part = read_post_processor(json, fields.file());
    whole.trims_with_prefix_space.insert(whole.trims_with_prefix_space.end(),
                                         part.trims_with_prefix_space.begin(),
                                         part.trims_with_prefix_space.end());
    if (type == "ByteLevel") continue;
    if (has_template) {
      throw UnsupportedModel(
          fmt::format("'{}': a sequence of post-processors that add special tokens twice is not "
                      "supported",
                      fields.file()));
    }
    has_template = true;
    whole.single = std::move(part.single);
    whole.pair = std::move(part.pair);
  }
  return whole;
}

}  // namespace

int64_t PostProcessor::count_special_tokens(const Template& form) const {
  int64_t count = 0;
  for (const TemplateStep& step : form) count += static_cast<int64_t>(step.ids.size());
  return count;
}

void PostProcessor::trim_offsets(std::vector<TextToken>& tokens) const {
  for (const bool prefix_space : trims_with_prefix_space) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      auto& [start, end] = tokens[i].offset;
      int64_t leading = tokens[i].leading_spaces;
      const int64_t trailing = tokens[i].trailing_spaces;
      const bool first = i == 0 || start == 0;
      // The one space that was added is not in the text, so there is nothing to take out.
      if (first && prefix_space && leading == 1) leading = 0;
      start = std::min(start + leading, end);
      if (end >= trailing) end = std::max(end - trailing, start);
    }
  }
}

Encoding PostProcessor::assemble(const std::vector<TextToken>& text,
                                 const std::vector<TextToken>* pair_tokens) const {
  Encoding encoding;
  int segment = 0;
  const auto add = [&](int64_t id, int64_t type_id, Encoding::Offset offset, int64_t word,
                       bool is_special) {
    encoding.ids.push_back(id);
    encoding.type_ids.push_back(type_id);
    encoding.offsets.push_back(offset);
    encoding.word.push_back(word);
    encoding.special.push_back(is_special);
    encoding.segment.push_back(segment);
  };
  for (const TemplateStep& step : pair_tokens == nullptr ? single : pair) {
    if (step.kind == TemplateStep::Kind::kSpecial) {
      for (const int64_t id : step.ids) add(id, step.type_id, {}, -1, true);
      continue;
    }
    segment = step.kind == TemplateStep::Kind::kPair ? 1 : 0;
    for (const TextToken& token : segment == 1 ? *pair_tokens : text) {
      add(token.id, step.type_id, token.offset, token.word, false);
    }
  }
  return encoding;
}

PostProcessor bert_processing(ClsSep ids) {
  return {.single = {special(ids.cls, 0), text(0), special(ids.sep, 0)},
          .pair = {special(ids.cls, 0), text(0), special(ids.sep, 0), pair_text(1),
                   special(ids.sep, 1)}};
}

PostProcessor roberta_processing(ClsSep ids) {
  return {.single = {special(ids.cls, 0), text(0), special(ids.sep, 0)},
          .pair = {special(ids.cls, 0), text(0), special(ids.sep, 0), special(ids.sep, 0),
                   pair_text(0), special(ids.sep, 0)}};
}

PostProcessor read_post_processor(const Json& json, std::string_view file) {
  const JsonFields fields(json, file, "a post-processor");
  const std::string type = fields.text("type");
  const auto cls_and_sep = [&] {
    return ClsSep{read_token_and_id(fields, "cls"), read_token_and_id(fields, "sep")};
  };
  const auto read_trim = [&](PostProcessor& processor) {
    if (fields.flag_or("trim_offsets", true)) {
      processor.trims_with_prefix_space.push_back(fields.flag_or("add_prefix_space", true));
    }
  };
  if (type == "TemplateProcessing") return read_template(fields);
  if (type == "BertProcessing") return bert_processing(cls_and_sep());
  if (type == "RobertaProcessing") {
    PostProcessor processor = roberta_processing(cls_and_sep());
    read_trim(processor);
    return processor;
  }
  if (type == "ByteLevel") {
    PostProcessor processor;
    read_trim(processor);
    return processor;
  }
  if (type == "Sequence") return read_sequence(fields);
  throw UnsupportedModel(fmt::format("'{}': the post-processor '{}' is not supported", file, type));
}

}  // namespace whyformer::tokenization
