package dev.kakehashi.server.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.kakehashi.scheduler.metrics.SchedulerMetrics;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The scheduler's part of the status in words.
public final class SchedulerReport {
  private static final JsonFactory JSON = new JsonFactory();

  // Heading, metric.
  private static final String[][] WORKER_COLUMNS = {
    {"executed", "tasks.run"},
    {"steals", "steal.successes"},
    {"stolen", "steal.items"},
    {"suspended", "park.count"},
    {"woken", "wake.received"},
    {"sticky", "lane.runs"},
    {"conditional", "condition.waits"},
    {"longest", "task.longestNanos"},
    {"queued", "queue.local"},
    {"inbox", "queue.inbox"},
    {"pinned", "queue.pinned"},
  };

  // Label, prefix.
  private static final String[][] TIMES = {
    {"start of an outside task", "latency.start"},
    {"run of an outside task", "latency.run"},
    {"wake-up of a worker", "latency.wake"},
    {"job queued", "latency.jobQueued"},
    {"job in all", "latency.jobWall"},
  };

  private SchedulerReport() {}

  /// Text about the work of the scheduler, now and so far; counters and times that are zero are left out.
  ///
  /// @param json of [SchedulerMetrics#toJson]
  public static String text(String json) throws IOException {
    Map<String, Long> totals = new LinkedHashMap<>();
    List<Map<String, Long>> workers = new ArrayList<>();
    read(json, totals, workers);
    StringBuilder text = new StringBuilder();
    text.append(
        """
        scheduler: %d workers, %d awake, %d searching, %d hung
          tasks: %d accepted, %d run, %d failed, %d discarded, %d in the overflow queue
          jobs: %d live, %d done, %d failed; on the thread that received them: %d\
        """
            .formatted(
                workers.size(),
                take(totals, "workers.awake"),
                take(totals, "workers.searching"),
                take(totals, "workers.hung"),
                take(totals, "tasks.accepted"),
                totals.getOrDefault("tasks.run", 0L),
                take(totals, "tasks.failed"),
                take(totals, "tasks.discarded"),
                take(totals, "queue.overflow"),
                take(totals, "jobs.live"),
                take(totals, "jobs.done"),
                take(totals, "jobs.failed"),
                take(totals, "jobs.onCaller")));
    appendWorkers(text, workers, totals);
    appendTimes(text, totals);
    appendOthers(text, totals);
    return text.toString();
  }

  /// Numbers of the object, and of the objects in its array of workers.
  private static void read(String json, Map<String, Long> totals, List<Map<String, Long>> workers)
      throws IOException {
    try (JsonParser parser = JSON.createParser(json)) {
      Map<String, Long> values = totals;
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        switch (token) {
          case START_OBJECT -> {
            if (parser.getParsingContext().getParent().inArray()) {
              values = new LinkedHashMap<>();
              workers.add(values);
            }
          }
          case END_OBJECT -> values = totals;
          case VALUE_NUMBER_INT -> values.put(parser.currentName(), parser.getLongValue());
          default -> {} // names and the array's brackets
        }
      }
    }
  }

  /// A value that is shown, and not once more.
  private static long take(Map<String, Long> values, String name) {
    Long value = values.remove(name);
    return value == null ? 0 : value;
  }

  private static void appendWorkers(
      StringBuilder text, List<Map<String, Long>> workers, Map<String, Long> totals) {
    StringBuilder heading = new StringBuilder("\n  worker ");
    StringBuilder others = new StringBuilder("\n  others ");
    for (String[] column : WORKER_COLUMNS) {
      heading.append(cell(column[0]));
      long sum = workers.stream().mapToLong(worker -> worker.getOrDefault(column[1], 0L)).sum();
      long other = take(totals, column[1]) - sum;
      boolean counted = !column[1].startsWith("queue.") && !column[1].startsWith("task.");
      others.append(cell(counted ? Long.toString(Math.max(0, other)) : "-"));
    }
    text.append(heading);
    for (int i = 0; i < workers.size(); i++) {
      text.append(String.format(Locale.ROOT, "\n  %6d ", i));
      for (String[] column : WORKER_COLUMNS) {
        long value = workers.get(i).getOrDefault(column[1], 0L);
        text.append(cell(column[1].endsWith("Nanos") ? time(value) : Long.toString(value)));
      }
    }
    text.append(others); // threads that run light jobs themselves
  }

  private static String cell(String content) {
    return String.format(Locale.ROOT, " %11s", content);
  }

  private static String time(long nanos) {
    return nanos == 0 ? "-" : SchedulerMetrics.timeText(nanos);
  }

  private static void appendTimes(StringBuilder text, Map<String, Long> totals) {
    boolean begun = false;
    for (String[] row : TIMES) {
      long count = take(totals, row[1] + ".count");
      long half = take(totals, row[1] + ".p50Nanos");
      long most = take(totals, row[1] + ".p99Nanos");
      long longest = take(totals, row[1] + ".maxNanos");
      if (count == 0) {
        continue;
      }
      if (!begun) {
        text.append(
            String.format(
                Locale.ROOT,
                "\n  %-24s %10s %10s %10s %10s",
                "times",
                "count",
                "p50",
                "p99",
                "longest"));
        begun = true;
      }
      text.append(
          String.format(
              Locale.ROOT,
              "\n  %-24s %10d %10s %10s %10s",
              row[0],
              count,
              time(half),
              time(most),
              time(longest)));
    }
  }

  private static void appendOthers(StringBuilder text, Map<String, Long> totals) {
    long running = take(totals, "tasks.longestRunningNanos");
    if (running > 0) {
      text.append("\n  longest running task: ").append(time(running));
    }
    List<String> rest = new ArrayList<>();
    totals.forEach((name, value) -> {
      if (value != 0) {
        rest.add(name + " " + value);
      }
    });
    for (int i = 0; i < rest.size(); i += 5) {
      text.append(i == 0 ? "\n  counters: " : ",\n            ")
          .append(String.join(", ", rest.subList(i, Math.min(rest.size(), i + 5))));
    }
  }
}
