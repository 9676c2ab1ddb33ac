#include "answer_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

bool AnswerLines::write(const std::string& line) {
  bar_.clear();
  if (file_)
    file_->add(line);
  else
    print(line);
  ++count_;
  bar_.show(count_, total_ > 0 ? std::max(total_, count_) : 0);
  return !interrupted();
}

bool AnswerLines::add(const Explanation& explanation) {
  return write(to_json(explanation, -1) + "\n");
}

bool AnswerLines::add_problem(const std::string& name, const InvalidInput& error) {
  ++failed_;
  return write(error_line(name, error.what()));
}

bool AnswerLines::add(const std::string& name, const std::function<Explanation()>& explain) {
  if (interrupted()) return false;
  try {
    return add(explain());
  } catch (const InvalidInput& error) {
    return add_problem(name, error);
  } catch (const Interrupted&) {
    return false;
  }
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
