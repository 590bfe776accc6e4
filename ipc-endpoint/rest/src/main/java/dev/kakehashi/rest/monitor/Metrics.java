package dev.kakehashi.rest.monitor;

/// Something that counts. Thread-safe.
@FunctionalInterface
public interface Metrics {
  /// Writes its families, each name in one place of the process. Takes microseconds: values are read, not computed.
  void write(MetricsWriter writer);
}
