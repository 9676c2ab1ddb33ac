#include "input_arguments.h"

#include "whyformer/error.h"

namespace whyformer::cli {

std::optional<InputValue> InputArguments::given() const {
  if (arrays.given()) {
    arrays.check(model);
    return read_array_views(arrays.inputs);
  }
  const std::optional<PictureFile> file = picture.given(text);
  if (file && text.has_pair->count() > 0) {
    if (!picture.among.empty()) {
      throw InvalidInput(
          "a picture with a text is explained by their similarity: leave out --among");
    }
    return PictureWithText{*file, text.pair};
  }
  if (file) return PictureInput(*file);
  return text.given();
}

Model InputArguments::load(const InputValue& input) const {
  if (std::holds_alternative<ArrayViews>(input)) return arrays.load(model);
  return is_picture(input) ? picture.load(model) : model.load();
}

bool is_picture(const InputValue& input) {
  return std::holds_alternative<PictureInput>(input) ||
         std::holds_alternative<PictureWithText>(input);
}

}  // namespace whyformer::cli
