// Graphs that were built, by what they were built for. Safe to use from several threads.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace whyformer {

template <class Key, class Built>
class GraphCache {
 public:
  explicit GraphCache(size_t most = 64) : most_(most) {}

  // Null where there is none yet.
  std::shared_ptr<const Built> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto known = places_.find(key);
    if (known == places_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, known->second);
    return known->second->second;
  }

  // Gives what is kept: the one of another thread, where that was faster. Lengths vary in a file of
  // texts, so the graph that was not used for longest goes first.
  std::shared_ptr<const Built> add(const Key& key, std::shared_ptr<const Built> built) {
    const std::lock_guard lock(mutex_);
    const auto known = places_.find(key);
    if (known != places_.end()) return known->second->second;
    by_use_.emplace_front(key, std::move(built));
    places_[key] = by_use_.begin();
    if (by_use_.size() > most_) {
      places_.erase(by_use_.back().first);
      by_use_.pop_back();
    }
    return by_use_.front().second;
  }

 private:
  using Entry = std::pair<Key, std::shared_ptr<const Built>>;

  size_t most_;
  std::mutex mutex_;
  std::list<Entry> by_use_;  // the last one used first
  std::map<Key, typename std::list<Entry>::iterator> places_;
};

}  // namespace whyformer
