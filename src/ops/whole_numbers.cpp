#include "ops/whole_numbers.h"

#include <fmt/format.h>

#include <algorithm>

#include "whyformer/error.h"

namespace whyformer {
namespace {

class OfBytes final : public WholeNumbers {
 public:
  explicit OfBytes(StoredBytes bytes)
      : WholeNumbers(bytes.rows, bytes.columns), bytes_(std::move(bytes)) {
    const auto zeros = static_cast<int64_t>(bytes_.zeros.size());
    if (zeros > 1 && zeros != rows())
      throw InvalidInput(fmt::format("{} zeros for {} columns", zeros, rows()));
    if (static_cast<int64_t>(bytes_.data.size()) != rows() * columns()) {
      throw InvalidInput(
          fmt::format("{} bytes for a matrix of {} x {}", bytes_.data.size(), rows(), columns()));
    }
  }

  void read(int64_t first, int64_t count, float* to) const override {
    const auto* all = reinterpret_cast<const uint8_t*>(bytes_.data.view.data());
    const int64_t row_step = bytes_.transposed ? 1 : columns(),
                  column_step = bytes_.transposed ? rows() : 1;
    const auto copy = [&](int64_t row, int64_t column) {
      const uint8_t byte = all[(first + row) * row_step + column * column_step];
      to[row * columns() + column] =
          static_cast<float>(bytes_.is_signed ? static_cast<int8_t>(byte) : int{byte}) -
          zero(first + row);
    };
    // In the order in which the bytes lie.
    for (int64_t i = 0; i < (bytes_.transposed ? columns() : count); ++i) {
      for (int64_t j = 0; j < (bytes_.transposed ? count : columns()); ++j)
        bytes_.transposed ? copy(j, i) : copy(i, j);
    }
  }

 private:
  float zero(int64_t row) const {
    return bytes_.zeros.empty() ? 0 : bytes_.zeros[bytes_.zeros.size() == 1 ? 0 : row];
  }

  StoredBytes bytes_;
};

class OfTensor final : public WholeNumbers {
 public:
  explicit OfTensor(Tensor matrix)
      : WholeNumbers(matrix.dim(0), matrix.dim(1)), matrix_(std::move(matrix)) {}

  void read(int64_t first, int64_t count, float* to) const override {
    const Tensor rows = matrix_.slice(0, first, count).contiguous();
    std::copy_n(rows.data<float>(), rows.size(), to);
  }

 private:
  Tensor matrix_;
};

class SomeRows final : public WholeNumbers {
 public:
  SomeRows(std::shared_ptr<const WholeNumbers> all, int64_t first, int64_t count)
      : WholeNumbers(count, all->columns()), all_(std::move(all)), first_(first) {}

  void read(int64_t first, int64_t count, float* to) const override {
    all_->read(first_ + first, count, to);
  }

 private:
  std::shared_ptr<const WholeNumbers> all_;
  int64_t first_;
};

}  // namespace

Tensor WholeNumbers::floats() const {
  Tensor all = Tensor::empty({rows(), columns()}, DType::kFloat32);
  read(0, rows(), all.mutable_data<float>());
  return all;
}

std::shared_ptr<const WholeNumbers> whole_numbers(StoredBytes bytes) {
  return std::make_shared<OfBytes>(std::move(bytes));
}

std::shared_ptr<const WholeNumbers> whole_numbers(Tensor matrix) {
  return std::make_shared<OfTensor>(std::move(matrix));
}

std::shared_ptr<const WholeNumbers> some_rows(std::shared_ptr<const WholeNumbers> all,
                                              int64_t first, int64_t count) {
  return std::make_shared<SomeRows>(std::move(all), first, count);
}

}  // namespace whyformer
