// Rows of a table by the built-in model in one call: benchmark_tables FILE THREADS METHOD...
// benchmarks/tables (a script) runs this beside PyTorch.
#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "whyformer/methods.h"
#include "whyformer/tables.h"
#include "whyformer/threads.h"

namespace whyformer {
namespace {

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

rusage resources_used() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

double processor_seconds() {
  const rusage usage = resources_used();
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int measure(const std::string& file, int threads, const std::vector<std::string>& methods) {
  set_threads(threads);
  const Model model = Model::built_in_for_tables();
  const std::vector<InputValue> rows = rows_of(read_table_for(model, file));
  ExplainRequest request;
  for (const std::string& method : methods) request.methods.push_back({method, {}});
  std::vector<std::vector<double>> scores;  // of the last method, by row
  const double start = clock_seconds(), start_processor = processor_seconds();
  explain_each(model, rows, request, [&](size_t, const std::vector<Explanation>& explanations) {
    scores.push_back(explanations[0].attributions.back().scores);
    return true;
  });
  const double seconds = clock_seconds() - start;
  std::vector<double> last = scores.back();
  last.erase(last.begin());  // the class token
  const nlohmann::json told{{"rows", scores.size()},
                            {"seconds", seconds},
                            {"processor_seconds", processor_seconds() - start_processor},
                            {"megabytes", static_cast<double>(resources_used().ru_maxrss) / 1024},
                            {"last_scores", last}};
  std::cout << told << "\n";
  return 0;
}

}  // namespace
}  // namespace whyformer

int main(int count, char** arguments) {
  if (count < 4) {
    std::cerr << "usage: benchmark_tables FILE THREADS METHOD...\n";
    return 1;
  }
  return whyformer::measure(arguments[1], std::stoi(arguments[2]),
                            {arguments + 3, arguments + count});
}
