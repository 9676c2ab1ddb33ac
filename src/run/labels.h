// Which output a label means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace whyformer {

// By name, else by index. Throws InvalidInput that calls it `what` and lists what there is.
int64_t label_index(const std::vector<std::string>& labels, const std::string& asked,
                    const std::string& what);
int64_t label_index(const std::vector<std::string>& labels, int64_t asked, const std::string& what);

}  // namespace whyformer
