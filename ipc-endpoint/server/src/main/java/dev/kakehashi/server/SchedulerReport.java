package dev.kakehashi.server;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The scheduler's part of the status in words, out of what [StatusSocket] says.
final class SchedulerReport {
  private static final Pattern METRIC = Pattern.compile("\"([^\"]+)\":(-?\\d+)");

  private SchedulerReport() {}

  /// The line of JSON with all metrics, for programs.
  static String json(String said) {
    int end = said.indexOf('\n');
    return end < 0 ? said : said.substring(0, end);
  }

  /// Workers, jobs and processes, one a line.
  static String jobs(String said) {
    return said.substring(json(said).length()).strip();
  }

  /// Every metric that is not zero, one a line.
  static String text(String said) {
    StringBuilder text = new StringBuilder("scheduler:");
    Matcher metric = METRIC.matcher(json(said));
    while (metric.find()) {
      if (!metric.group(2).equals("0")) {
        text.append("\n  ").append(metric.group(1)).append(": ").append(metric.group(2));
      }
    }
    return text.toString();
  }
}
