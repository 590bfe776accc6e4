package dev.kakehashi.scheduler.metrics;

import java.util.Map;

/// The histograms of one runner: written by its thread alone, read by anyone.
public final class Latencies {
  /// Kinds of measured times.
  public enum Kind {
    /// From the submission of a task outside to its start; one in `latencySampling`.
    START(0, "latency.start"),
    /// Run time of those tasks.
    RUN(1, "latency.run"),
    /// From the wake-up of a worker to its first look; all of them.
    WAKE(2, "latency.wake"),
    /// From the submission of a timed job to the start of its bootstrap task.
    JOB_QUEUED(3, "latency.jobQueued"),
    /// From the submission of a timed job to its end.
    JOB_WALL(4, "latency.jobWall");

    private final int index;
    private final String prefix;

    Kind(int index, String prefix) {
      this.index = index;
      this.prefix = prefix;
    }
  }

  // Made with the first time recorded; threads that ran a few light jobs never need most of them.
  private final Histogram[] histograms = new Histogram[Kind.values().length];

  public void record(Kind kind, long nanos) {
    Histogram histogram = histograms[kind.index];
    if (histogram == null) {
      histogram = new Histogram();
      java.lang.invoke.VarHandle.releaseFence(); // its table before it
      histograms[kind.index] = histogram;
    }
    histogram.record(nanos);
  }

  /// Adds what `other` has seen so far. Only called on latencies that nobody writes.
  public void add(Latencies other) {
    for (int i = 0; i < histograms.length; i++) {
      Histogram seen = other.histograms[i];
      if (seen != null) {
        if (histograms[i] == null) {
          histograms[i] = new Histogram();
        }
        histograms[i].add(seen);
      }
    }
  }

  /// The longest time of a kind, 0 if there is none. Only called on latencies that nobody writes.
  public long maxNanos(Kind kind) {
    Histogram histogram = histograms[kind.index];
    return histogram == null ? 0 : histogram.nanosAt(1);
  }

  /// Puts count, median, 99th percentile and maximum of each kind. Only called on latencies that nobody writes.
  public void putInto(Map<String, Long> gauges) {
    for (Kind kind : Kind.values()) {
      Histogram histogram = histograms[kind.index];
      Histogram shown = histogram == null ? new Histogram() : histogram;
      gauges.put(kind.prefix + ".count", shown.count());
      gauges.put(kind.prefix + ".p50Nanos", shown.nanosAt(0.5));
      gauges.put(kind.prefix + ".p99Nanos", shown.nanosAt(0.99));
      gauges.put(kind.prefix + ".maxNanos", shown.nanosAt(1));
    }
  }
}
