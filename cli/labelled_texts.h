// A corpus as people keep it: a text per line, with its label behind a tab, or JSON lines.
#pragma once

#include <string>
#include <vector>

#include "whyformer/heads.h"

namespace whyformer::cli {

// Lines are `text`, `text<TAB>label`, or {"text": …, "pair": …, "label": …} where the label is a
// name, a number or a list of them. A heading that ends in `label` and blank lines are left out. At
// most `limit` texts are read, all if it is 0. Throws FileError, or InvalidInput that names the
// line.
std::vector<LabelledText> read_labelled_texts(const std::string& path, int64_t limit);

}  // namespace whyformer::cli
