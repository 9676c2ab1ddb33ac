#include "answer_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "whyformer/error.h"
#include "whyformer/interrupted.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer::cli {
namespace {

std::string error_line(const std::string& text, const std::string& message) {
  const nlohmann::ordered_json json{
      {"schema", Explanation::kSchema}, {"text", text}, {"error", message}};
  return printable_json(
             json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         "\n";
}

}  // namespace

AnswerLines::AnswerLines(const std::string& path, std::string what, int64_t total)
    : what_(std::move(what)), bar_(what_), total_(total) {
  if (!path.empty() && path != "-") file_ = std::make_unique<GrowingFile>(path);
}

void AnswerLines::write(const std::string& line) {
  bar_.clear();
  if (file_)
    file_->add(line);
  else
    print(line);
}

bool AnswerLines::add(const std::string& name, const std::function<Explanation()>& explain) {
  if (interrupted()) return false;
  std::string line;
  try {
    line = to_json(explain(), -1) + "\n";
  } catch (const InvalidInput& error) {
    line = error_line(name, error.what());
    ++failed_;
  } catch (const Interrupted&) {
    return false;
  }
  write(line);
  ++count_;
  bar_.show(count_, total_ > 0 ? std::max(total_, count_) : 0);
  return !interrupted();
}

void AnswerLines::finish() {
  bar_.clear();
  if (file_) file_->finish();
  if (interrupted()) throw Interrupted();
  if (failed_ == 0) return;
  throw InvalidInput(
      fmt::format("{} of {} {} could not be explained; their answers have an \"error\"", failed_,
                  count_, what_));
}

}  // namespace whyformer::cli
