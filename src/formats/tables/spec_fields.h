// The fields of a JSON object of table.json, read with checks. Each message names the file and the
// place in it.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whyformer {

class SpecFields {
 public:
  // `place` begins the messages: "'table.json', column 'age'". Throws FileError if `json` is no
  // object.
  SpecFields(const nlohmann::json& json, std::string place);

  const std::string& place() const { return place_; }
  [[noreturn]] void fail(const std::string& problem) const;

  // nullptr where the field is absent or null.
  const nlohmann::json* find(std::string_view key) const;
  std::optional<SpecFields> object(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::string text_or(std::string_view key, std::string fallback) const;
  bool flag_or(std::string_view key, bool fallback) const;
  double number(std::string_view key) const;
  double number_or(std::string_view key, double fallback) const;
  double positive(std::string_view key) const;
  // What a scaler divides by: not 0.
  double divisor_or(std::string_view key, double fallback) const;
  int64_t whole(std::string_view key, int64_t least, int64_t most) const;
  // A file beside table.json, never one elsewhere; empty where the field is absent.
  std::string file_name_or_none(std::string_view key) const;

  // Lists; empty where the field is absent.
  std::vector<std::string> texts(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  std::vector<int64_t> wholes(std::string_view key, int64_t least, int64_t most) const;
  // Throws FileError where it is absent; each element an object or a list of its own.
  const nlohmann::json& list(std::string_view key) const;

 private:
  const nlohmann::json& json_;
  std::string place_;
};

// Parses a whole file: at most 16 MB, nested at most 8 deep. Throws FileError.
nlohmann::json parse_spec_json(std::string_view text, std::string_view what);

}  // namespace whyformer
