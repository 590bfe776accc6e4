package dev.kakehashi.benchmarks.applications;

import dev.kakehashi.benchmarks.engine.ProcessorTime;
import java.io.IOException;
import org.HdrHistogram.Histogram;

/// How long calls take, one after the other on this thread, for a time.
final class CallTimes {
  private static final long LONGEST_NANOS = 1_000_000_000;

  private final Histogram nanos = new Histogram(LONGEST_NANOS, 3);
  private final double processorSeconds;

  CallTimes(Runnable call, double seconds) throws IOException {
    double used = ProcessorTime.seconds();
    long began = System.nanoTime();
    long end = began + (long) (seconds * 1e9);
    while (began < end) {
      call.run();
      long now = System.nanoTime();
      nanos.recordValue(Math.min(now - began, LONGEST_NANOS));
      began = now;
    }
    processorSeconds = ProcessorTime.seconds() - used;
  }

  double micros(double percentile) {
    return nanos.getValueAtPercentile(percentile) / 1e3;
  }

  /// Processor time of the whole machine for one call.
  double processorMicros() {
    return processorSeconds * 1e6 / nanos.getTotalCount();
  }
}
