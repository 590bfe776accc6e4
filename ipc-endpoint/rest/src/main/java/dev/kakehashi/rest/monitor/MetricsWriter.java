package dev.kakehashi.rest.monitor;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/// Writes a page in the text format of OpenMetrics 1.0. One use, one thread.
///
/// Samples are bounded: of a family with more than [#MAX_SAMPLES] the rest is left out, and `kakehashi_http_metrics_samples_dropped` says
/// how many.
public final class MetricsWriter {
  /// Most samples of one family.
  public static final int MAX_SAMPLES = 1000;

  private static final int MAX_LABEL = 128;

  private final StringBuilder page = new StringBuilder(16 << 10);
  private final Set<String> families = new HashSet<>();
  private String family = "";
  private String suffix = "";
  private int samples;
  private long dropped;

  MetricsWriter() {}

  /// Begins a family of numbers that only grow, since the start of the process.
  ///
  /// @param name with `kakehashi_` at its beginning, without `_total`
  /// @throws IllegalStateException the page has it already
  public MetricsWriter counter(String name, String help) {
    return family(name, "counter", "_total", help);
  }

  /// Begins a family of numbers that come and go.
  public MetricsWriter gauge(String name, String help) {
    return family(name, "gauge", "", help);
  }

  private MetricsWriter family(String name, String type, String suffix, String help) {
    if (!families.add(name)) {
      throw new IllegalStateException("two families " + name);
    }
    this.family = name;
    this.suffix = suffix;
    this.samples = 0;
    page.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    page.append("# HELP ").append(name).append(' ');
    escape(help, Integer.MAX_VALUE);
    page.append('\n');
    return this;
  }

  /// A number of the family that was begun.
  ///
  /// @param labels names and values in turn; their number of combinations must be bounded by what they are, never by what clients send
  public MetricsWriter sample(double value, String... labels) {
    if (begin(labels)) {
      page.append(value).append('\n');
    }
    return this;
  }

  /// A whole number of the family that was begun.
  public MetricsWriter sample(long value, String... labels) {
    if (begin(labels)) {
      page.append(value).append('\n');
    }
    return this;
  }

  private boolean begin(String... labels) {
    samples++;
    if (samples > MAX_SAMPLES) {
      dropped++;
      return false;
    }
    page.append(family).append(suffix);
    for (int i = 0; i < labels.length; i += 2) {
      page.append(i == 0 ? '{' : ',').append(labels[i]).append("=\"");
      escape(labels[i + 1], MAX_LABEL);
      page.append('"');
    }
    page.append(labels.length > 0 ? "} " : " ");
    return true;
  }

  private void escape(String text, int max) {
    for (int i = 0; i < Math.min(text.length(), max); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '\n' -> page.append("\\n");
        case '\\' -> page.append("\\\\");
        case '"' -> page.append("\\\"");
        default -> page.append(c);
      }
    }
  }

  /// The whole page.
  byte[] finish() {
    gauge("kakehashi_http_metrics_samples_dropped", "Samples that this page has left out.")
        .sample(dropped);
    page.append("# EOF\n");
    return page.toString().getBytes(StandardCharsets.UTF_8);
  }
}
