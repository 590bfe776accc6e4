package dev.kakehashi.server;

import dev.kakehashi.scheduler.LongTask;
import dev.kakehashi.scheduler.RateLimit;
import dev.kakehashi.scheduler.SchedulerConfig;
import dev.kakehashi.scheduler.SchedulerConfig.Choice;
import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Every parameter of the scheduler as a setting: `scheduler_` and the parameter's name in lower case with underscores,
/// `localCapacity` is `scheduler_local_capacity`. Times are written with their unit like all settings; `off` stands for
/// the value below zero where there is one, `on` and `off` for true and false. The number of workers is the setting `worker_threads`.
final class SchedulerSettings {
  static final String PREFIX = "scheduler_";
  private static final String OFF = "off";
  private static final int LOGGED_STATEMENT_CHARS = 1000;
  private static final Logger LOG = LoggerFactory.getLogger(SchedulerSettings.class);

  private SchedulerSettings() {}

  /// Every key with its default.
  static Map<String, String> defaults() {
    Map<String, String> defaults = new LinkedHashMap<>();
    for (Parameter parameter : Parameter.values()) {
      if (parameter != Parameter.WORKERS) {
        defaults.put(key(parameter.key()), show(parameter, parameter.defaultValue()));
      }
    }
    for (Choice choice : Choice.values()) {
      defaults.put(key(choice.key()), choice.defaultValue().toLowerCase(Locale.ROOT));
    }
    return defaults;
  }

  /// @throws SettingsException if the value is not allowed
  static void check(String key, String value) {
    apply(SchedulerConfig.builder(), key, value);
  }

  /// The scheduler's configuration.
  ///
  /// @throws SettingsException if settings contradict each other
  static SchedulerConfig config(Settings settings) {
    SchedulerConfig.Builder builder = SchedulerConfig.builder();
    int threads = settings.workerThreads();
    if (threads > 0) {
      builder.workers(threads);
    }
    settings.schedulerValues().forEach((key, value) -> apply(builder, key, value));
    builder.onLongTask(SchedulerSettings::log);
    builder.uncaught((where, thrown) -> LOG.error("uncaught exception in {}", where, thrown));
    try {
      return builder.build();
    } catch (IllegalArgumentException e) {
      throw new SettingsException("settings of the scheduler: " + e.getMessage());
    }
  }

  /// Limit of the requests that a session may start; 0 stands for no limit.
  static RateLimit sessionLimit(Settings settings) {
    RateLimit limit = RateLimit.unlimited();
    int rate = settings.count(Setting.SESSION_RATE);
    if (rate > 0) {
      limit = RateLimit.of(rate);
      int bucket = settings.count(Setting.SESSION_BUCKET_SIZE);
      limit = bucket > 0 ? limit.bucket(bucket) : limit;
    }
    int concurrent = settings.count(Setting.SESSION_MAX_CONCURRENT_REQUESTS);
    return concurrent > 0 ? limit.concurrent(concurrent) : limit;
  }

  private static void apply(SchedulerConfig.Builder builder, String key, String value) {
    try {
      for (Parameter parameter : Parameter.values()) {
        if (key(parameter.key()).equals(key)) {
          builder.set(parameter.key(), number(key, parameter, value));
          return;
        }
      }
      for (Choice choice : Choice.values()) {
        if (key(choice.key()).equals(key)) {
          builder.set(choice.key(), value);
        }
      }
    } catch (IllegalArgumentException e) {
      throw new SettingsException("\"" + key + "\": " + e.getMessage());
    }
  }

  private static String number(String key, Parameter parameter, String value) {
    if (value.equals(OFF) && parameter.min() < 0) {
      return "-1";
    }
    if (parameter.unit().equals("bool")) {
      return value.equals("on") ? "true" : value.equals(OFF) ? "false" : value;
    }
    long unitNanos = nanos(parameter.unit());
    if (unitNanos == 0) {
      return value;
    }
    long nanos = Setting.duration(key, value);
    if (nanos % unitNanos != 0) {
      throw new SettingsException(
          "\"%s\" cannot be %s: it is counted in whole %s".formatted(key, value, parameter.unit()));
    }
    return Long.toString(nanos / unitNanos);
  }

  private static String show(Parameter parameter, long value) {
    if (parameter.unit().equals("bool")) {
      return value == 1 ? "true" : "false";
    }
    if (value < 0) {
      return OFF;
    }
    return nanos(parameter.unit()) == 0 ? Long.toString(value) : value + parameter.unit();
  }

  private static long nanos(String unit) {
    return switch (unit) {
      case "us" -> 1_000L;
      case "ms" -> 1_000_000L;
      default -> 0;
    };
  }

  private static String key(String camel) {
    return PREFIX + camel.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  /// A statement's job is named by its text.
  private static void log(LongTask task) {
    String job = task.jobName();
    LOG.warn(
        "a {} has been running for {} ms on {}, job {}: {}{}",
        task.callback() ? "callback" : "task",
        task.running().toMillis(),
        task.threadName(),
        task.jobId(),
        job.length() > LOGGED_STATEMENT_CHARS
            ? job.substring(0, LOGGED_STATEMENT_CHARS) + "..."
            : job,
        task.stackText());
  }
}
