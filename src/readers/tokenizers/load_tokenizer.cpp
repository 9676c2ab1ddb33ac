#include <fmt/format.h>

#include <initializer_list>

#include "readers/tokenizers/legacy_folders.h"
#include "readers/tokenizers/tokenizer.h"
#include "readers/tokenizers/tokenizer_json.h"
#include "readers/tokenizers/tokenizer_parts.h"
#include "readers/tokenizers/tokenizer_settings.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using namespace tokenization;

// The id of the token the settings name for a role, else of the first usual name the vocabulary
// has.
std::optional<int64_t> special_id(const Tokenizer::Parts& parts, const TokenizerSettings& settings,
                                  std::string_view role,
                                  std::initializer_list<std::string_view> usual_names) {
  const auto named = settings.special.find(role);
  if (named != settings.special.end()) return parts.find(named->second.content);
  for (const std::string_view name : usual_names) {
    if (const auto id = parts.find(name)) return id;
  }
  return std::nullopt;
}

void find_special_ids(Tokenizer::Parts& parts, const TokenizerSettings& settings) {
  parts.mask_id = special_id(parts, settings, "mask_token", {"[MASK]", "<mask>"});
  parts.pad_id = special_id(parts, settings, "pad_token", {"[PAD]", "<pad>"});
  parts.cls_id = special_id(parts, settings, "cls_token", {"[CLS]", "<s>"});
  parts.sep_id = special_id(parts, settings, "sep_token", {"[SEP]", "</s>"});
  parts.unk_id = parts.model->unknown_id();
  if (!parts.unk_id) parts.unk_id = special_id(parts, settings, "unk_token", {"[UNK]", "<unk>"});
}

void require_known_special_tokens(const Tokenizer::Parts& parts) {
  for (const Template* form : {&parts.post_processor.single, &parts.post_processor.pair}) {
    for (const TemplateStep& step : *form) {
      for (const int64_t id : step.ids) {
        if (parts.added_tokens.content_of(id) || parts.model->vocabulary().token_of(id)) continue;
        throw FileError(fmt::format(
            "the tokenizer adds a special token with id {}, which its vocabulary of {} tokens does "
            "not have; the files do not belong together",
            id, parts.model->vocabulary().size()));
      }
    }
  }
}

}  // namespace

std::shared_ptr<const Tokenizer> load_tokenizer(const FileLookup& files) {
  constexpr std::string_view kTokenizerJson = "tokenizer.json";
  TokenizerSettings settings = read_settings(files);
  std::unique_ptr<Tokenizer::Parts> parts;
  if (const auto json = files(kTokenizerJson)) {
    parts = parse_tokenizer_json(json->text(), kTokenizerJson);
  } else {
    parts = read_legacy_folder(files, settings);
  }
  if (parts == nullptr) {
    throw FileError(
        "the model comes with no tokenizer: put tokenizer.json into its folder, or hand it over "
        "with the model's other parts; vocab.txt, vocab.json with merges.txt, spiece.model or "
        "sentencepiece.bpe.model will do as well");
  }
  require_known_special_tokens(*parts);
  parts->added_tokens.seal(parts->normalizer);
  find_special_ids(*parts, settings);
  parts->model_max_length = settings.model_max_length;
  return std::make_shared<const Tokenizer>(std::move(parts));
}

}  // namespace whyformer
