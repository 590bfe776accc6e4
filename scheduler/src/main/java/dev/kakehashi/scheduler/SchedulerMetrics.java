package dev.kakehashi.scheduler;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A reading of a scheduler's counters and gauges. Immutable.
///
/// Counters never go back and are exact once nothing runs: then `tasks.accepted` = `tasks.run` + `tasks.discarded`.
/// While the scheduler works they are read one after the other and may be off by what happened
/// meanwhile. Gauges (`queue.*`, `workers.*`, `jobs.live`) are momentary. `latency.*` are nanoseconds since the start of the
/// scheduler, at most an eighth too high: `start` and `run` of one outside task in `latencySampling`, `wake` of all
/// wake-ups, `jobQueued` and `jobWall` of all jobs that are [JobBuilder#timed()].
public final class SchedulerMetrics {
  private final Map<String, Long> totals;
  private final List<Map<String, Long>> perWorker;

  SchedulerMetrics(long[] totals, List<long[]> perWorker, Map<String, Long> gauges) {
    Map<String, Long> all = named(totals);
    all.putAll(new TreeMap<>(gauges));
    this.totals = Collections.unmodifiableMap(all);
    this.perWorker = perWorker.stream().map(v -> Collections.unmodifiableMap(named(v))).toList();
  }

  private static Map<String, Long> named(long[] values) {
    Map<String, Long> map = new LinkedHashMap<>();
    for (int i = 0; i < values.length; i++) {
      map.put(Counters.NAMES.get(i), values[i]);
    }
    return map;
  }

  /// Every counter summed over all threads, and every gauge, by name.
  public Map<String, Long> totals() {
    return totals;
  }

  /// Counters of one worker.
  public Map<String, Long> worker(int index) {
    return perWorker.get(index);
  }

  /// One counter or gauge of [#totals()].
  ///
  /// @throws IllegalArgumentException for an unknown name
  public long get(String name) {
    Long value = totals.get(name);
    if (value == null) {
      throw new IllegalArgumentException("unknown metric \"" + name + "\"");
    }
    return value;
  }

  /// The totals as one line of JSON.
  public String toJson() {
    StringBuilder json = new StringBuilder("{");
    totals.forEach((name, value) ->
        json.append(json.length() > 1 ? "," : "")
            .append('"')
            .append(name)
            .append("\":")
            .append(value));
    return json.append('}').toString();
  }

  @Override
  public String toString() {
    return toJson();
  }
}
