#include "readers/tokenizers/tokenizer_settings.h"

#include <algorithm>

namespace whyformer::tokenization {
namespace {

constexpr std::string_view kConfig = "tokenizer_config.json";
constexpr std::string_view kSpecialTokensMap = "special_tokens_map.json";
constexpr std::string_view kAddedTokens = "added_tokens.json";

Json read_json(const FileLookup& files, std::string_view name) {
  const std::optional<Bytes> bytes = files(name);
  return bytes ? parse_json(bytes->text(), name) : Json::object();
}

// "[MASK]" or {"content": "[MASK]", "lstrip": false, ...}
AddedToken read_special_token(const Json& json, std::string_view file) {
  if (json.is_string()) return special_token(json.get<std::string>());
  const JsonFields fields(json, file, "a special token");
  AddedToken token = read_added_token(fields);
  token.normalized = fields.flag_or("normalized", false);
  return token;
}

void read_special_tokens(const Json& json, std::string_view file, TokenizerSettings& settings) {
  const JsonFields fields(json, file, "the file");
  for (const std::string_view role : kSpecialRoles) {
    if (const Json* token = fields.find(role))
      settings.special[std::string(role)] = read_special_token(*token, file);
  }
}

// {"103": {"content": "[MASK]", ...}, ...}
void read_added_tokens_decoder(const Json& decoder, TokenizerSettings& settings) {
  std::map<int64_t, AddedToken> by_id;
  for (const auto& [key, value] : decoder.items()) {
    const bool is_number =
        !key.empty() && key.size() < 10 &&
        std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!is_number)
      throw FileError(fmt::format("'{}': '{}' should be the id of an added token", kConfig, key));
    by_id[std::stoll(key)] = read_added_token(JsonFields(value, kConfig, "an added token"));
  }
  for (const auto& [id, token] : by_id) settings.added.push_back(token);
  for (auto& [role, special] : settings.special) {
    for (const AddedToken& token : settings.added) {
      if (token.content == special.content) special = token;
    }
  }
}

// {"<new>": 30522, ...}
void read_added_tokens_file(const Json& json, TokenizerSettings& settings) {
  if (!json.is_object())
    throw FileError(fmt::format("'{}' should be an object of tokens and ids", kAddedTokens));
  std::map<int64_t, AddedToken> by_id;
  for (const auto& [content, id] : json.items()) {
    const bool is_special =
        std::any_of(settings.special.begin(), settings.special.end(),
                    [&](const auto& entry) { return entry.second.content == content; });
    by_id[checked_id(id, kAddedTokens, "the id of an added token")] = {.content = content,
                                                                       .normalized = !is_special};
  }
  for (const auto& [id, token] : by_id) settings.added.push_back(token);
}

// transformers writes 10^30 for "no limit".
int64_t read_max_length(const JsonFields& config) {
  constexpr double kAbsurd = 1e9;
  const Json* value = config.find("model_max_length");
  if (value == nullptr || !value->is_number()) return 0;
  const auto length = value->get<double>();
  return length >= 1 && length < kAbsurd ? static_cast<int64_t>(length) : 0;
}

}  // namespace

const AddedToken& TokenizerSettings::special_or(std::string_view role, std::string_view fallback) {
  const auto found = special.find(role);
  if (found != special.end()) return found->second;
  return special[std::string(role)] = special_token(std::string(fallback));
}

TokenizerSettings read_settings(const FileLookup& files) {
  TokenizerSettings settings;
  const Json config_json = read_json(files, kConfig);
  const JsonFields config(config_json, kConfig, "the file");
  settings.model_max_length = read_max_length(config);
  settings.do_lower_case = config.flag_or("do_lower_case", settings.do_lower_case);
  settings.keep_accents = config.flag_or("keep_accents", settings.keep_accents);
  settings.tokenize_chinese_chars =
      config.flag_or("tokenize_chinese_chars", settings.tokenize_chinese_chars);
  settings.trim_offsets = config.flag_or("trim_offsets", settings.trim_offsets);
  settings.strip_accents = config.optional_flag("strip_accents");
  settings.add_prefix_space = config.optional_flag("add_prefix_space");
  read_special_tokens(config_json, kConfig, settings);
  if (const Json* decoder = config.find("added_tokens_decoder");
      decoder != nullptr && decoder->is_object()) {
    read_added_tokens_decoder(*decoder, settings);
  } else {
    read_special_tokens(read_json(files, kSpecialTokensMap), kSpecialTokensMap, settings);
    read_added_tokens_file(read_json(files, kAddedTokens), settings);
  }
  const Json model = read_json(files, "config.json");
  settings.model_type = JsonFields(model, "config.json", "the file").text_or("model_type", "");
  return settings;
}

}  // namespace whyformer::tokenization
