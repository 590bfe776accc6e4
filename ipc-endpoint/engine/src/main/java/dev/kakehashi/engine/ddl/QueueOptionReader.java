package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.sql.parser.QueueStatement.Option;
import dev.kakehashi.engine.type.queue.QueueDurations;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.NearestWord;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// Options of a queue while a statement changes them. Confined to one thread.
final class QueueOptionReader {
  static final List<String> NAMES =
      List.of(
          "lease",
          "max_attempts",
          "min_backoff",
          "max_backoff",
          "max_doublings",
          "age_limit",
          "dead_letter",
          "rate",
          "bucket_size",
          "max_concurrent",
          "key_rate",
          "key_bucket_size",
          "key_max_concurrent",
          "order",
          "aging",
          "push_deadline",
          "jitter");

  private static final long LEAST_LEASE_MILLIS = 100;
  private static final long MOST_LEASE_MILLIS = 7L * 24 * 3600 * 1000;
  private static final long MOST_MILLIS = 3650L * 24 * 3600 * 1000;
  private static final double MOST_RATE = 1e9;
  private static final int MOST_DOUBLINGS = 62;
  private static final String NONE = "none";

  private final ToLongFunction<String> queues;
  private final Set<String> said = new HashSet<>();
  private QueueOptions options;

  /// @param present what is not said stays
  /// @param queues number of the queue that a name means
  QueueOptionReader(QueueOptions present, ToLongFunction<String> queues) {
    this.options = present;
    this.queues = queues;
  }

  /// @throws EngineException INVALID_PARAMETER_VALUE, SYNTAX_ERROR for one that comes twice
  QueueOptions with(List<Option> given) {
    for (Option option : given) {
      if (!said.add(option.name())) {
        throw new EngineException(ErrorCode.SYNTAX_ERROR, "conflicting or redundant options")
            .withPosition(option.position());
      }
      try {
        set(option.name(), option.value());
      } catch (EngineException refused) {
        throw refused.position() == 0 ? refused.withPosition(option.position()) : refused;
      }
    }
    return checked();
  }

  /// The same with the defaults of some.
  QueueOptions without(List<String> names) {
    for (String name : names) {
      reset(name);
    }
    return checked();
  }

  private QueueOptions checked() {
    if (options.retry().minBackoffMillis() > options.retry().maxBackoffMillis()) {
      throw invalid("min_backoff must not be longer than max_backoff");
    }
    if (options.push().deadlineMillis() > options.leaseMillis()) {
      if (said.contains("push_deadline")) {
        throw invalid("push_deadline must not be longer than lease");
      }
      options = new Builder(options).pushDeadline(options.leaseMillis()).build();
    }
    return options;
  }

  private void set(String name, String value) {
    Builder next = new Builder(options);
    switch (name) {
      case "lease" -> next.lease = millis(name, value, LEAST_LEASE_MILLIS, MOST_LEASE_MILLIS);
      case "max_attempts" -> next.maxAttempts = integer(name, value, 0, Integer.MAX_VALUE);
      case "min_backoff" -> next.minBackoff = millis(name, value, 0, MOST_MILLIS);
      case "max_backoff" -> next.maxBackoff = millis(name, value, 0, MOST_MILLIS);
      case "max_doublings" -> next.maxDoublings = integer(name, value, 0, MOST_DOUBLINGS);
      case "age_limit" -> next.ageLimit = isNone(value) ? 0 : millis(name, value, 0, MOST_MILLIS);
      case "dead_letter" -> next.deadLetter = isNone(value) ? 0 : queues.applyAsLong(value);
      case "rate" -> next.rate = rate(name, value);
      case "bucket_size" -> next.bucketSize = integer(name, value, 1, Integer.MAX_VALUE);
      case "max_concurrent" -> next.maxConcurrent = integer(name, value, 0, Integer.MAX_VALUE);
      case "key_rate" -> next.keyRate = rate(name, value);
      case "key_bucket_size" -> next.keyBucketSize = integer(name, value, 1, Integer.MAX_VALUE);
      case "key_max_concurrent" ->
          next.keyMaxConcurrent = integer(name, value, 0, Integer.MAX_VALUE);
      case "order" -> {
        if (!isNone(value) && !value.equalsIgnoreCase("key")) {
          throw bad(name, value, "It is 'key' or 'none'.");
        }
        next.orderByKey = !isNone(value);
      }
      case "aging" -> next.aging = isNone(value) ? 0 : millis(name, value, 0, MOST_MILLIS);
      case "push_deadline" -> next.pushDeadline = millis(name, value, 1, MOST_LEASE_MILLIS);
      case "jitter" -> next.jitter = part(name, value);
      default -> throw unknown(name);
    }
    options = next.build();
  }

  private void reset(String name) {
    Builder next = new Builder(options);
    QueueOptions initial = QueueOptions.DEFAULT;
    switch (name) {
      case "lease" -> next.lease = initial.leaseMillis();
      case "max_attempts" -> next.maxAttempts = initial.retry().maxAttempts();
      case "min_backoff" -> next.minBackoff = initial.retry().minBackoffMillis();
      case "max_backoff" -> next.maxBackoff = initial.retry().maxBackoffMillis();
      case "max_doublings" -> next.maxDoublings = initial.retry().maxDoublings();
      case "age_limit" -> next.ageLimit = initial.retry().ageLimitMillis();
      case "dead_letter" -> next.deadLetter = initial.retry().deadLetter();
      case "rate" -> next.rate = initial.limits().rate();
      case "bucket_size" -> next.bucketSize = initial.limits().bucketSize();
      case "max_concurrent" -> next.maxConcurrent = initial.limits().maxConcurrent();
      case "key_rate" -> next.keyRate = initial.keyLimits().rate();
      case "key_bucket_size" -> next.keyBucketSize = initial.keyLimits().bucketSize();
      case "key_max_concurrent" -> next.keyMaxConcurrent = initial.keyLimits().maxConcurrent();
      case "order" -> next.orderByKey = initial.orderByKey();
      case "aging" -> next.aging = initial.agingMillis();
      case "push_deadline" -> next.pushDeadline = initial.push().deadlineMillis();
      case "jitter" -> next.jitter = initial.retry().jitter();
      default -> throw unknown(name);
    }
    options = next.build();
  }

  static QueueOptions paused(QueueOptions options, boolean paused) {
    Builder next = new Builder(options);
    next.paused = paused;
    return next.build();
  }

  /// @param target null: tasks are received
  static QueueOptions pushed(QueueOptions options, @Nullable String target) {
    Builder next = new Builder(options);
    next.pushTarget = target;
    return next.build();
  }

  static QueueOptions withoutDeadLetter(QueueOptions options) {
    Builder next = new Builder(options);
    next.deadLetter = 0;
    return next.build();
  }

  // ---- values ----

  private static boolean isNone(String value) {
    return value.equalsIgnoreCase(NONE);
  }

  private static long millis(String name, String value, long least, long most) {
    long millis = QueueDurations.millis(name, value);
    if (millis < least || millis > most) {
      throw invalid(
          "%s must be between %s and %s"
              .formatted(name, QueueDurations.text(least), QueueDurations.text(most)));
    }
    return millis;
  }

  private static int integer(String name, String value, int least, int most) {
    try {
      int number = Integer.parseInt(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException notWhole) {
      throw bad(name, value, "It is a whole number from %d on.".formatted(least));
    }
    throw invalid("%s must be between %d and %d".formatted(name, least, most));
  }

  /// `0` to `1`.
  private static double part(String name, String value) {
    double part = value.matches("[01](\\.\\d{1,40})?") ? Double.parseDouble(value) : -1;
    if (part < 0 || part > 1) {
      throw bad(name, value, "It is a number from 0 to 1.");
    }
    return part;
  }

  /// `500/s`, `10/min`, `0.5/h`, `none`; a number alone is per second.
  static double rate(String name, String value) {
    if (isNone(value)) {
      return -1;
    }
    int slash = value.indexOf('/');
    String number = (slash < 0 ? value : value.substring(0, slash)).strip();
    String unit = slash < 0 ? "s" : value.substring(slash + 1).strip().toLowerCase(Locale.ROOT);
    double seconds =
        switch (unit) {
          case "s" -> 1;
          case "min" -> 60;
          case "h" -> 3600;
          case "d" -> 86400;
          default -> 0;
        };
    boolean plain = number.matches("\\d{1,12}(\\.\\d{1,40})?");
    if (seconds == 0 || !plain) {
      throw bad(name, value, "It is like '500/s', '10/min', '1/h', '1/d', 'none' or 0.");
    }
    double rate = Double.parseDouble(number) / seconds;
    if (rate > MOST_RATE) {
      throw invalid(name + " must be at most 1000000000 a second");
    }
    return rate;
  }

  private static EngineException bad(String name, String value, String hint) {
    return invalid("invalid value for %s: \"%s\"".formatted(name, value)).withHint(hint);
  }

  private static EngineException invalid(String message) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message);
  }

  private static EngineException unknown(String name) {
    String nearest = NAMES.getFirst();
    for (String each : NAMES) {
      if (NearestWord.distance(name, each) < NearestWord.distance(name, nearest)) {
        nearest = each;
      }
    }
    return invalid("queues have no option \"" + name + "\"")
        .withHint(
            NearestWord.distance(name, nearest) <= Math.max(1, nearest.length() / 3)
                ? "Perhaps you meant \"" + nearest + "\"."
                : "There are " + String.join(", ", NAMES) + ".");
  }

  /// Options that can be changed one by one.
  private static final class Builder {
    private long lease;
    private int maxAttempts;
    private long minBackoff;
    private long maxBackoff;
    private int maxDoublings;
    private long ageLimit;
    private long deadLetter;
    private double rate;
    private int bucketSize;
    private int maxConcurrent;
    private double keyRate;
    private int keyBucketSize;
    private int keyMaxConcurrent;
    private boolean orderByKey;
    private long aging;
    private boolean paused;
    private @Nullable String pushTarget;
    private long pushDeadline;
    private double jitter;

    Builder(QueueOptions from) {
      lease = from.leaseMillis();
      maxAttempts = from.retry().maxAttempts();
      minBackoff = from.retry().minBackoffMillis();
      maxBackoff = from.retry().maxBackoffMillis();
      maxDoublings = from.retry().maxDoublings();
      ageLimit = from.retry().ageLimitMillis();
      deadLetter = from.retry().deadLetter();
      rate = from.limits().rate();
      bucketSize = from.limits().bucketSize();
      maxConcurrent = from.limits().maxConcurrent();
      keyRate = from.keyLimits().rate();
      keyBucketSize = from.keyLimits().bucketSize();
      keyMaxConcurrent = from.keyLimits().maxConcurrent();
      orderByKey = from.orderByKey();
      aging = from.agingMillis();
      paused = from.paused();
      pushTarget = from.push().target();
      pushDeadline = from.push().deadlineMillis();
      jitter = from.retry().jitter();
    }

    Builder pushDeadline(long millis) {
      pushDeadline = millis;
      return this;
    }

    QueueOptions build() {
      return new QueueOptions(
          lease,
          new QueueOptions.Retry(
              maxAttempts, minBackoff, maxBackoff, maxDoublings, jitter, ageLimit, deadLetter),
          new QueueOptions.StartLimits(rate, bucketSize, maxConcurrent),
          new QueueOptions.StartLimits(keyRate, keyBucketSize, keyMaxConcurrent),
          orderByKey,
          aging,
          paused,
          new QueueOptions.Push(pushTarget, pushDeadline));
    }
  }
}
