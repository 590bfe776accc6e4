package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueDefinition.Group;
import dev.kakehashi.engine.api.queue.QueueDefinition.Schedule;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Queue;
import dev.kakehashi.engine.type.queue.QueueDurations;
import dev.kakehashi.engine.type.text.Quoting;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/// Statements that make all queues again, without their tasks. Groups begin with the first task.
final class QueueDefinitions {
  private final RightsDefinitions.Sink sink;

  private QueueDefinitions(RightsDefinitions.Sink sink) {
    this.sink = sink;
  }

  static void addAll(CatalogSnapshot catalog, RightsDefinitions.Sink sink) {
    QueueDefinitions all = new QueueDefinitions(sink);
    catalog.queues().forEach(all::add);
    // A dead letter queue may have been made after those that use it.
    for (QueueDefinition each : catalog.queues()) {
      Queue target = catalog.queue(each.options().retry().deadLetter());
      if (target != null) {
        String letters = Quoting.literal(qualified(target.schema(), target.name()));
        all.alter(each, "SET (dead_letter = " + letters + ")");
      }
    }
  }

  private void add(QueueDefinition queue) {
    List<String> options = options(queue.options());
    String with = options.isEmpty() ? "" : " WITH (" + String.join(", ", options) + ")";
    sink.add("queue", queue.schema(), queue.name(), "CREATE QUEUE " + name(queue) + with);
    for (Group group : queue.groups()) {
      sink.add(
          "subscription group",
          queue.schema(),
          queue.name(),
          "CREATE SUBSCRIPTION GROUP %s ON QUEUE %s FROM FIRST"
              .formatted(Quoting.identifier(group.name()), name(queue)));
    }
    new TreeMap<>(queue.weights())
        .forEach((key, weight) ->
            alter(queue, "SET WEIGHT " + Quoting.literal(key) + " TO " + decimal(weight)));
    for (Schedule schedule : queue.schedules()) {
      String payload = new String(schedule.payload().bytes(), StandardCharsets.UTF_8);
      alter(
          queue,
          "ADD SCHEDULE %s CRON %s ZONE %s PAYLOAD %s"
              .formatted(
                  Quoting.identifier(schedule.name()),
                  Quoting.literal(schedule.cron()),
                  Quoting.literal(schedule.zone()),
                  Quoting.literal(payload)));
    }
    String target = queue.options().push().target();
    if (target != null) {
      alter(queue, "PUSH TO " + Quoting.literal(target));
    }
    if (queue.options().paused()) {
      alter(queue, "PAUSE");
    }
  }

  private void alter(QueueDefinition queue, String action) {
    sink.add("queue", queue.schema(), queue.name(), "ALTER QUEUE " + name(queue) + " " + action);
  }

  /// Options that are not the default.
  private static List<String> options(QueueOptions is) {
    QueueOptions usual = QueueOptions.DEFAULT;
    List<String> said = new ArrayList<>();
    duration(said, "lease", is.leaseMillis(), usual.leaseMillis());
    number(said, "max_attempts", is.retry().maxAttempts(), usual.retry().maxAttempts());
    duration(said, "min_backoff", is.retry().minBackoffMillis(), usual.retry().minBackoffMillis());
    duration(said, "max_backoff", is.retry().maxBackoffMillis(), usual.retry().maxBackoffMillis());
    number(said, "max_doublings", is.retry().maxDoublings(), usual.retry().maxDoublings());
    duration(said, "age_limit", is.retry().ageLimitMillis(), usual.retry().ageLimitMillis());
    rate(said, "rate", is.limits().rate(), usual.limits().rate());
    number(said, "bucket_size", is.limits().bucketSize(), usual.limits().bucketSize());
    number(said, "max_concurrent", is.limits().maxConcurrent(), usual.limits().maxConcurrent());
    rate(said, "key_rate", is.keyLimits().rate(), usual.keyLimits().rate());
    number(said, "key_bucket_size", is.keyLimits().bucketSize(), usual.keyLimits().bucketSize());
    number(
        said,
        "key_max_concurrent",
        is.keyLimits().maxConcurrent(),
        usual.keyLimits().maxConcurrent());
    if (is.orderByKey()) {
      said.add("\"order\" = 'key'");
    }
    duration(said, "aging", is.agingMillis(), usual.agingMillis());
    duration(said, "push_deadline", is.push().deadlineMillis(), usual.push().deadlineMillis());
    if (is.retry().jitter() != usual.retry().jitter()) {
      said.add("jitter = " + decimal(is.retry().jitter()));
    }
    return said;
  }

  private static void duration(List<String> said, String name, long millis, long usual) {
    if (millis != usual) {
      said.add(name + " = '" + QueueDurations.text(millis) + "'");
    }
  }

  private static void number(List<String> said, String name, int value, int usual) {
    if (value != usual) {
      said.add(name + " = " + value);
    }
  }

  private static void rate(List<String> said, String name, double rate, double usual) {
    if (rate != usual) {
      said.add(name + " = '" + rateText(rate) + "'");
    }
  }

  /// As the option is written.
  static String rateText(double rate) {
    return rate < 0 ? "none" : decimal(rate) + "/s";
  }

  private static String decimal(double value) {
    return BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }

  private static String name(QueueDefinition queue) {
    return qualified(queue.schema(), queue.name());
  }

  private static String qualified(String schema, String name) {
    return Quoting.identifier(schema) + "." + Quoting.identifier(name);
  }
}
