#include "studies/heads/picture_examples.h"

#include <fmt/format.h>

#include <algorithm>

#include "readers/given_picture.h"
#include "readers/picture_subject.h"
#include "run/run.h"
#include "whyformer/error.h"

namespace whyformer {

ProcessedPicture PictureHeadExamples::read(int64_t example) const {
  try {
    return processed(whole_, pixels_of(corpus_[example].input));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", corpus_[example].place, error.what()));
  }
}

std::unique_ptr<Explained> PictureHeadExamples::run(int64_t example,
                                                    Explained::Settings settings) const {
  auto subject = std::make_unique<PictureSubject>(model_, whole_.picture_processor(), read(example),
                                                  settings.kind());
  if (!subject->attends_by_unit())
    throw InvalidInput("heads cannot be measured: " + subject->why_no_maps());
  return std::make_unique<Explained>(std::move(subject), std::move(settings));
}

std::vector<std::vector<int64_t>> PictureHeadExamples::batches(int64_t tokens_at_once) const {
  const auto size = whole_.picture_processor().input_size();
  int64_t room = 1;  // pictures of any size run one by one
  if (size) {
    const auto graph = model_.graph({.height = size->height, .width = size->width});
    room = std::clamp<int64_t>(tokens_at_once / tokens_in(*graph, 1), 1, model_.most_at_once());
  }
  std::vector<std::vector<int64_t>> batches;
  for (int64_t example = 0; example < count(); ++example) {
    if (batches.empty() || static_cast<int64_t>(batches.back().size()) >= room)
      batches.emplace_back();
    batches.back().push_back(example);
  }
  return batches;
}

Run PictureHeadExamples::run_together(std::span<const int64_t> examples, DType dtype) const {
  std::vector<Tensor> pictures;
  for (const int64_t example : examples) pictures.push_back(read(example).values);
  Shape shape = pictures[0].shape();
  shape.insert(shape.begin(), static_cast<int64_t>(pictures.size()));
  Tensor pixels = Tensor::empty(shape, pictures[0].dtype());
  for (size_t i = 0; i < pictures.size(); ++i)
    pixels.select(0, static_cast<int64_t>(i)).copy_from(pictures[i]);
  const auto graph =
      model_.graph({.batch = shape[0], .height = shape[2], .width = shape[3], .dtype = dtype});
  return {graph, model_.feeds(*graph, pixels)};
}

}  // namespace whyformer
