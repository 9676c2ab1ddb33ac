#include <fmt/format.h>

#include "models/architectures/picture_encoder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kMostBiases = int64_t{1} << 28;  // of one layer; known models have a sixteenth

// Which row of the table holds the pair of tokens `query` and `key`.
class DistanceRows {
 public:
  DistanceRows(int64_t rows, int64_t columns, ClassToken token)
      : columns_(columns),
        row_distances_(2 * rows - 1),
        column_distances_(2 * columns - 1),
        special_(token == ClassToken::kFirst ? 1 : 0),
        rows_(rows) {}

  int64_t tokens() const { return rows_ * columns_ + special_; }

  int64_t at(int64_t query, int64_t key) const {
    const int64_t patches = row_distances_ * column_distances_;
    if (special_ > 0 && query == 0 && key == 0) return patches + 2;
    if (special_ > 0 && key == 0) return patches + 1;
    if (special_ > 0 && query == 0) return patches;
    const int64_t from = query - special_, to = key - special_;
    const int64_t down = from / columns_ - to / columns_ + rows_ - 1;
    const int64_t across = from % columns_ - to % columns_ + columns_ - 1;
    return down * column_distances_ + across;
  }

 private:
  int64_t columns_, row_distances_, column_distances_, special_, rows_;
};

}  // namespace

Tensor relative_position_bias(const Tensor& table, int64_t rows, int64_t columns,
                              ClassToken token) {
  const DistanceRows distances(rows, columns, token);
  const int64_t tokens = distances.tokens(), heads = table.dim(1);
  if (heads > kMostBiases / (tokens * tokens)) {
    throw UnsupportedModel(fmt::format(
        "position distances of {} heads between {} tokens are too many; at most {} numbers", heads,
        tokens, kMostBiases));
  }
  const Tensor source = table.contiguous();
  Tensor bias = Tensor::empty({1, heads, tokens, tokens}, table.dtype());
  const auto fill = [&]<typename T>(T) {
    T* out = bias.mutable_data<T>();
    const T* numbers = source.data<T>();
    for (int64_t query = 0; query < tokens; ++query) {
      for (int64_t key = 0; key < tokens; ++key) {
        const T* row = numbers + distances.at(query, key) * heads;
        for (int64_t head = 0; head < heads; ++head) {
          out[(head * tokens + query) * tokens + key] = row[head];
        }
      }
    }
  };
  if (table.dtype() == DType::kFloat64)
    fill(double{});
  else
    fill(float{});
  return bias;
}

}  // namespace whyformer
