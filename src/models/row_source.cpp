#include "models/row_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "whyformer/error.h"

namespace whyformer {

std::vector<int64_t> RowSource::places_of(const std::vector<std::string>& names) const {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw InvalidInput(
          fmt::format("two columns are called '{}': give each a name of its own", name));
    }
  }
  std::vector<int64_t> by_name, in_order;
  for (const TableColumn& column : columns(static_cast<int64_t>(names.size()))) {
    const auto found =
        std::find(names.begin(), names.end(), fmt::format("{}.{}", column.input, column.index));
    if (found != names.end()) by_name.push_back(found - names.begin());
    in_order.push_back(static_cast<int64_t>(in_order.size()));
  }
  if (!by_name.empty() && by_name.size() < names.size()) {
    throw InvalidInput(fmt::format(
        "{} of {} columns are called INPUT.INDEX as the model's inputs are: name all of them so, "
        "or none",
        by_name.size(), names.size()));
  }
  return by_name.empty() ? in_order : by_name;
}

namespace {

[[noreturn]] void throw_no_context(const RowSource& source) {
  throw UnsupportedModel(fmt::format(
      "the rows of '{}' do not attend to each other, so that there is no context to give",
      source.name()));
}

}  // namespace

std::shared_ptr<const RowSource> RowSource::in_context(std::vector<Sample>, ContextMode) const {
  throw_no_context(*this);
}

std::shared_ptr<const RowSource> RowSource::in_blocks() const { throw_no_context(*this); }

RowsExplained RowSource::by_rows() const { throw_no_context(*this); }

ShapeKey RowSource::key_for(int64_t total, ShapeKey key) const {
  for (const TableColumn& column : columns(total)) key.shapes[column.input] = {column.index + 1};
  return key;
}

Sample RowSource::sample_of(const std::vector<TableColumn>& all, const std::vector<double>& row,
                            DType dtype) {
  Sample sample;
  for (size_t c = all.size(); c-- > 0;) {
    // The last column of an input tells its length.
    if (sample.contains(all[c].input)) continue;
    sample[all[c].input] = Tensor::empty({all[c].index + 1}, all[c].whole ? DType::kInt64 : dtype);
  }
  Tensor* last = nullptr;
  for (size_t c = 0; c < row.size(); ++c) {
    if (c == 0 || all[c].input != all[c - 1].input) last = &sample.at(all[c].input);
    Tensor& tensor = *last;
    const double number = row[c];
    const int64_t at = all[c].index;
    const bool missing = all[c].may_be_missing && std::isnan(number);
    if (!missing && !(std::abs(number) <= std::numeric_limits<float>::max())) {
      throw InvalidInput(fmt::format("column {} of '{}' is {}: too large for the model", at,
                                     all[c].input, number));
    }
    if (tensor.dtype() == DType::kFloat32) {
      tensor.mutable_data<float>()[at] = static_cast<float>(number);
    } else if (tensor.dtype() == DType::kFloat64) {
      tensor.mutable_data<double>()[at] = number;
    } else if (number == std::floor(number) && std::abs(number) < 1e15) {
      tensor.mutable_data<int64_t>()[at] = static_cast<int64_t>(number);
    } else {
      throw InvalidInput(
          fmt::format("column {} of '{}' takes whole numbers, not {}", at, all[c].input, number));
    }
  }
  return sample;
}

}  // namespace whyformer
