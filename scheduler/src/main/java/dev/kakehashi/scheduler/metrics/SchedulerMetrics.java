package dev.kakehashi.scheduler.metrics;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// A reading of a scheduler's counters and gauges. Immutable.
///
/// Counters never go back and are exact once nothing runs: then `tasks.accepted` = `tasks.run` + `tasks.discarded`. While the scheduler
/// works they are read one after the other and may be off by what happened meanwhile. Gauges (`queue.*`, `workers.*`, `jobs.live`) are
/// momentary. `task.longestNanos` of a worker is as long as the watchdog has seen it run, which looks every `preemptAfter`, or a sampled
/// one. `latency.*` are nanoseconds since the start of the scheduler, at most an eighth too high: `start` and `run` of one outside task in
/// `latencySampling`, `wake` of all wake-ups, `jobQueued` and `jobWall` of all jobs that are [dev.kakehashi.scheduler.JobBuilder#timed()].
public final class SchedulerMetrics {
  private final Map<String, Long> totals;
  private final List<Map<String, Long>> perWorker;

  public SchedulerMetrics(Map<String, Long> totals, List<Map<String, Long>> perWorker) {
    this.totals = totals;
    this.perWorker = List.copyOf(perWorker);
  }

  /// Counters in the order of their names, then gauges by name.
  public static Map<String, Long> named(long[] values, Map<String, Long> gauges) {
    Map<String, Long> map = new LinkedHashMap<>();
    for (int i = 0; i < values.length; i++) {
      map.put(Counters.NAMES.get(i), values[i]);
    }
    map.putAll(new TreeMap<>(gauges));
    return Collections.unmodifiableMap(map);
  }

  /// Every counter summed over all threads, and every gauge, by name.
  public Map<String, Long> totals() {
    return totals;
  }

  /// Number of workers.
  public int workers() {
    return perWorker.size();
  }

  /// Counters and gauges of one worker.
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

  /// Everything as one line of JSON: an object of the totals, and in it `workers`, an array of the workers' own.
  public String toJson() {
    StringBuilder json = new StringBuilder("{");
    appendTo(json, totals);
    json.append(",\"workers\":[");
    for (Map<String, Long> worker : perWorker) {
      json.append(json.charAt(json.length() - 1) == '[' ? "{" : ",{");
      appendTo(json, worker);
      json.append('}');
    }
    return json.append("]}").toString();
  }

  private static void appendTo(StringBuilder json, Map<String, Long> values) {
    values.forEach((name, value) ->
        json.append(json.charAt(json.length() - 1) == '{' ? "" : ",")
            .append('"')
            .append(name)
            .append("\":")
            .append(value));
  }

  /// A length of time for people: three digits or so, and a unit from ns to s.
  public static String timeText(long nanos) {
    return nanos < 1_000
        ? nanos + " ns"
        : nanos < 1_000_000
            ? scaled(nanos / 1e3, "us")
            : nanos < 1_000_000_000 ? scaled(nanos / 1e6, "ms") : scaled(nanos / 1e9, "s");
  }

  private static String scaled(double value, String unit) {
    return String.format(Locale.ROOT, value < 100 ? "%.1f %s" : "%.0f %s", value, unit);
  }

  @Override
  public String toString() {
    return toJson();
  }
}
