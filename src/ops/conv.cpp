#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "ops/helpers.h"
#include "ops/linear_relevance.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

// A convolution of images is a Linear on the patches under the kernel: they are laid out as rows
// [batch · windows, channels · kernel], and what comes back is added up where patches overlap.
class Conv final : public Op {
 public:
  Conv(std::shared_ptr<const LinearWeights> weights, ConvWindow window)
      : weights_(std::move(weights)), window_(window) {}

  std::string_view kind() const override { return "Conv"; }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    const Shape& image = inputs[0].shape;
    if (image.size() != 4 ||
        image[1] * window_.height * window_.width != weights_->in_features()) {
      throw InvalidInput(fmt::format(
          "an image {} does not fit a kernel of {} x {} and weights for {} inputs",
          to_string(image), window_.height, window_.width, weights_->in_features()));
    }
    if (windows(image[2], window_.height) < 1 || windows(image[3], window_.width) < 1) {
      throw InvalidInput(fmt::format("an image {} is smaller than the kernel", to_string(image)));
    }
    return {{{image[0], weights_->out_features(), windows(image[2], window_.height),
              windows(image[3], window_.width)},
             inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor rows = patches(inputs[0]);
    const Shape shape = infer(std::vector<ValueType>{{inputs[0].shape(), inputs[0].dtype()}})[0].shape;
    return {{as_image(weights_->apply(rows, Direction::kForward, WeightPart::kAll, true), shape)},
            {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    return {fold(weights_->apply(as_rows(dy[0]), Direction::kBackward), call.input_types[0].shape)};
  }

  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted&) const override {
    if (rule.kind == RuleKind::kStop) return {Tensor()};
    const Tensor& image = call.inputs[0];
    Bounds bounds;
    for (int64_t sample = 0; sample < image.dim(0); ++sample) {
      const std::vector<double> pixels = image.select(0, sample).to_doubles();
      const auto [least, most] = std::minmax_element(pixels.begin(), pixels.end());
      bounds.least.push_back(*least);
      bounds.most.push_back(*most);
    }
    const Tensor shares = linear_relevance(*weights_, patches(image), as_rows(call.outputs[0]),
                                           as_rows(relevance[0]), rule, bounds);
    return {fold(shares, image.shape())};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (axis != 0) return std::nullopt;
    return same_axis(axis);
  }

 private:
  int64_t windows(int64_t length, int64_t kernel) const {
    return length < kernel ? 0 : (length - kernel) / window_.stride + 1;
  }

  // Calls use(image offset, patch offset, length) for every run of neighbours that both layouts share.
  template <typename Use>
  void for_each_run(const Shape& image, const Use& use) const {
    const int64_t down = windows(image[2], window_.height), across = windows(image[3], window_.width);
    const int64_t patch = weights_->in_features();
    for (int64_t b = 0; b < image[0]; ++b) {
      for (int64_t window = 0; window < down * across; ++window) {
        const int64_t top = window / across * window_.stride;
        const int64_t left = window % across * window_.stride;
        for (int64_t line = 0; line < image[1] * window_.height; ++line) {
          const int64_t channel = line / window_.height, y = top + line % window_.height;
          use(((b * image[1] + channel) * image[2] + y) * image[3] + left,
              (b * down * across + window) * patch + line * window_.width, window_.width);
        }
      }
    }
  }

  Tensor patches(const Tensor& image) const {
    const Tensor source = image.contiguous();
    const int64_t count =
        image.dim(0) * windows(image.dim(2), window_.height) * windows(image.dim(3), window_.width);
    Tensor rows = Tensor::empty({count, weights_->in_features()}, image.dtype());
    with_float_type(image.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* to = rows.mutable_data<T>();
      for_each_run(image.shape(), [&](int64_t pixel, int64_t element, int64_t length) {
        std::copy_n(source.data<T>() + pixel, length, to + element);
      });
    });
    return rows;
  }

  Tensor fold(const Tensor& rows, const Shape& shape) const {
    Tensor image = Tensor::zeros(shape, rows.dtype());
    with_float_type(rows.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* to = image.mutable_data<T>();
      for_each_run(shape, [&](int64_t pixel, int64_t element, int64_t length) {
        for (int64_t i = 0; i < length; ++i) to[pixel + i] += rows.data<T>()[element + i];
      });
    });
    return image;
  }

  // [batch, features, down, across] as rows [batch · down · across, features], and back.
  static Tensor as_rows(const Tensor& image) {
    const Tensor last = image.permute({0, 2, 3, 1}).contiguous();
    return last.reshape({last.dim(0) * last.dim(1) * last.dim(2), last.dim(3)});
  }
  static Tensor as_image(const Tensor& rows, const Shape& shape) {
    return rows.reshape({shape[0], shape[2], shape[3], shape[1]}).permute({0, 3, 1, 2}).contiguous();
  }

  std::shared_ptr<const LinearWeights> weights_;
  ConvWindow window_;
};

}  // namespace

Value conv(GraphBuilder& graph, Value image, std::shared_ptr<const LinearWeights> weights,
           ConvWindow window, std::string name) {
  return graph.add(std::make_shared<Conv>(std::move(weights), window), {image}, std::move(name));
}

}  // namespace whyformer
