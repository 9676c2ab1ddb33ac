#include "readers/tokenizers/tokenizer_document.h"

namespace whyformer::tokenization {
namespace {

enum class DocumentPart { kTree, kVocabulary, kMerges };

// Receives the events of the JSON parser. A return value of false ends the parse; `problem` tells
// why.
class DocumentReader {
 public:
  DocumentReader(TokenizerDocument& document, DocumentPart start)
      : document_(document), part_(start) {}

  std::string problem;

  bool null() { return part_ == DocumentPart::kTree ? value(nullptr) : unexpected(); }
  bool boolean(bool flag) { return part_ == DocumentPart::kTree ? value(flag) : unexpected(); }
  bool number_integer(int64_t number) { return number_of(number); }
  bool number_unsigned(uint64_t number) { return number_of(number); }
  bool number_float(double number, const std::string&) {
    if (part_ == DocumentPart::kVocabulary && !document_.vocabulary_is_list) return unexpected();
    return number_of(number);
  }
  bool binary(Json::binary_t&) { return unexpected(); }

  bool string(std::string& text) {
    if (part_ == DocumentPart::kVocabulary) return add_listed_token(text);
    if (part_ == DocumentPart::kMerges)
      return inner_depth_ == 2 ? add_half_merge(text) : add_merge(text);
    return value(std::move(text));
  }

  bool key(std::string& name) {
    if (part_ == DocumentPart::kTree) {
      keys_.back() = std::move(name);
      return true;
    }
    if (part_ != DocumentPart::kVocabulary || inner_depth_ != 1) return unexpected();
    document_.tokens.add(name);
    return true;
  }

  bool start_object(size_t) {
    return part_ == DocumentPart::kTree ? open(Json::object()) : enter(false);
  }
  bool start_array(size_t) {
    return part_ == DocumentPart::kTree ? open(Json::array()) : enter(true);
  }
  bool end_object() { return part_ == DocumentPart::kTree ? close() : leave(); }
  bool end_array() { return part_ == DocumentPart::kTree ? close() : leave(); }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) {
    if (problem.empty())
      problem = fmt::format("is not JSON (at byte {}); download the file again", position);
    return false;
  }

 private:
  bool unexpected() {
    problem = part_ == DocumentPart::kMerges
                  ? "has merges that are not pairs of strings"
                  : "has a vocabulary that is neither tokens with ids nor tokens with scores";
    return false;
  }

  // Values that become JSON. `open_` is the path from the root to where the next value goes.
  bool value(Json element) {
    place(std::move(element));
    return true;
  }

  Json* place(Json element) {
    if (open_.empty()) {
      document_.tree = std::move(element);
      return &document_.tree;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(element));
      return &parent.back();
    }
    return &(parent[keys_.back()] = std::move(element));
  }

  bool open(Json container) {
    if (enters_bulk()) {
      part_ = keys_.back() == "vocab" ? DocumentPart::kVocabulary : DocumentPart::kMerges;
      if (part_ == DocumentPart::kVocabulary) {
        document_.tokens.clear();
        document_.numbers.clear();
      } else {
        document_.merges.clear();
      }
      return enter(container.is_array());
    }
    if (open_.size() == kMaxJsonDepth) {
      problem = fmt::format("is nested more than {} levels deep", kMaxJsonDepth);
      return false;
    }
    open_.push_back(place(std::move(container)));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  bool enters_bulk() const {
    return keys_.size() == 2 && keys_[0] == "model" &&
           (keys_[1] == "vocab" || keys_[1] == "merges");
  }

  // The vocabulary {"token": id} or [["token", score]], and the merges ["a b"] or [["a", "b"]].
  bool enter(bool is_list) {
    ++inner_depth_;
    if (inner_depth_ == 1) {
      if (part_ == DocumentPart::kVocabulary) document_.vocabulary_is_list = is_list;
      return part_ == DocumentPart::kVocabulary || is_list || unexpected();
    }
    elements_ = 0;
    const bool list_of_lists = part_ == DocumentPart::kMerges || document_.vocabulary_is_list;
    return (inner_depth_ == 2 && is_list && list_of_lists) || unexpected();
  }

  bool leave() {
    if (inner_depth_ == 2 && elements_ != 2) return unexpected();
    if (--inner_depth_ > 0) return true;
    part_ = DocumentPart::kTree;
    return document_.tokens.size() == document_.numbers.size() || unexpected();
  }

  template <typename Number>
  bool number_of(Number number) {
    if (part_ == DocumentPart::kTree) return value(number);
    const bool in_list = inner_depth_ == 2 && elements_++ == 1;
    const bool in_object = inner_depth_ == 1 && !document_.vocabulary_is_list;
    if (part_ == DocumentPart::kMerges || !(in_list || in_object)) return unexpected();
    document_.numbers.push_back(static_cast<double>(number));
    return true;
  }

  bool add_listed_token(const std::string& text) {
    if (inner_depth_ != 2 || elements_++ != 0) return unexpected();
    document_.tokens.add(text);
    return true;
  }

  bool add_half_merge(const std::string& text) {
    if (elements_++ >= 2) return unexpected();
    document_.merges.add(text);
    return true;
  }

  bool add_merge(std::string_view text) {
    if (text.starts_with("#version")) return true;
    const size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
      return unexpected();
    document_.merges.add(text.substr(0, space));
    document_.merges.add(text.substr(space + 1));
    return true;
  }

  TokenizerDocument& document_;
  DocumentPart part_;
  std::vector<Json*> open_;
  std::vector<std::string> keys_;  // of each open object, the key being read
  int inner_depth_ = 0;            // inside the vocabulary or the merges
  int elements_ = 0;               // read of the innermost list
};

TokenizerDocument parse(std::string_view text, std::string_view file, DocumentPart start) {
  constexpr size_t kLargest = size_t{256} << 20;
  if (text.size() > kLargest) {
    throw FileError(fmt::format("'{}' has {} bytes, more than the {} that are supported", file,
                                text.size(), kLargest));
  }
  TokenizerDocument document;
  DocumentReader reader(document, start);
  if (!Json::sax_parse(text, &reader))
    throw FileError(fmt::format("'{}' {}", file, reader.problem));
  return document;
}

}  // namespace

TokenizerDocument parse_tokenizer_document(std::string_view text, std::string_view file) {
  TokenizerDocument document = parse(text, file, DocumentPart::kTree);
  if (!document.tree.is_object()) throw FileError(fmt::format("'{}' is not a JSON object", file));
  return document;
}

TokenizerDocument parse_vocabulary_document(std::string_view text, std::string_view file) {
  TokenizerDocument document = parse(text, file, DocumentPart::kVocabulary);
  if (document.vocabulary_is_list || document.tokens.size() == 0) {
    throw FileError(fmt::format("'{}' should be an object of tokens and ids", file));
  }
  return document;
}

Vocabulary vocabulary_with_ids(const TokenizerDocument& document, std::string_view file) {
  if (document.vocabulary_is_list)
    throw FileError(fmt::format("'{}': the vocabulary should be tokens with ids", file));
  Vocabulary vocabulary;
  vocabulary.reserve(document.tokens.size(), 0);
  for (size_t i = 0; i < document.tokens.size(); ++i) {
    const double id = document.numbers[i];
    if (!(id >= 0 && id <= INT32_MAX)) {
      throw FileError(fmt::format("'{}': the id of '{}' should be from 0 to {}", file,
                                  document.tokens[i], INT32_MAX));
    }
    vocabulary.set(document.tokens[i], static_cast<int64_t>(id));
  }
  return vocabulary;
}

}  // namespace whyformer::tokenization
