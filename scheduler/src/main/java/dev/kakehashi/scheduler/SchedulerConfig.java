package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.platform.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/// How a scheduler is set up. Immutable; made by [#builder()], which refuses values out of range.
public final class SchedulerConfig {
  /// Order in which a worker takes its own tasks.
  public enum LocalOrder {
    /// Newest first: a tree of tasks needs memory for its depth, not its width.
    LIFO,
    /// Oldest first.
    FIFO
  }

  /// Which worker a thief tries first; it then goes round.
  public enum VictimOrder {
    /// The one where the last steal succeeded, otherwise a random one.
    LAST_FIRST,
    /// A random one.
    RANDOM,
    /// The one after the last success.
    ROUND_ROBIN
  }

  /// How waiting tasks of busy workers get to sleeping ones.
  public enum Distribution {
    /// A bounded number of workers search, are woken first, and pass the role on while work is left.
    SEARCH,
    /// At most one worker, the distributor, takes waiting tasks and hands them to sleeping workers, as long as anyone
    /// works. It needs a core for itself while there is work.
    ROLE
  }

  /// Treatment of a job submitted from outside whose inbox is full.
  public enum RejectionPolicy {
    /// The submitter waits for room.
    BLOCK,
    /// The submitter runs it, as with [Option#CALLER].
    CALLER,
    /// [java.util.concurrent.RejectedExecutionException].
    THROW
  }

  /// The numeric settings: key, unit, range and default.
  public enum Parameter {
    /// Number of worker threads; fixed.
    WORKERS("workers", "threads", 1, 1024, Runtime.getRuntime().availableProcessors()),
    /// Stack of a worker, of which only what a task has come to use takes memory: tasks that recurse over what users
    /// wrote need more than a thread's usual one.
    WORKER_STACK("workerStack", "kB", 256, 1 << 20, 16 << 10),
    /// Ring of each worker; a power of two.
    LOCAL_CAPACITY("localCapacity", "tasks", 4, 1 << 15, 4096),
    /// Ring of each inbox; a power of two.
    INBOX_CAPACITY("inboxCapacity", "tasks", 4, 1 << 24, 1 << 16),
    /// Most tasks taken from an inbox at once.
    GLOBAL_BATCH("globalBatch", "tasks", 1, 128, 16),
    /// Whether workers steal from each other.
    STEALING("stealing", "bool", 0, 1, 1),
    /// Most tasks stolen at once; at most half of what the victim has.
    STEAL_LIMIT("stealLimit", "tasks", 1, 128, 32),
    /// Whether thieves ask workers on the same core, cache and socket first, where the machine says which those are.
    VICTIM_LOCALITY("victimLocality", "bool", 0, 1, 1),
    /// Whether worker `i` keeps to processor `i` of those the process may use, as the locality of victims takes it to be.
    PIN_WORKERS("pinWorkers", "bool", 0, 1, 0),
    /// Looks at inboxes and overflow that find nothing before the first look at other workers.
    STEAL_WAIT("stealWait", "looks", 0, 1000, 0),
    /// Workers that look for work at the same time; 0 stands for half of the workers, at least 1.
    MAX_SEARCHERS("maxSearchers", "workers", 0, 1024, 0),
    /// Whether workers never sleep.
    BUSY_WORKER("busyWorker", "bool", 0, 1, 0),
    /// Longest search before sleeping; the search adapts between 0 and this.
    SPIN_LIMIT("spinLimit", "us", 0, 1_000_000, 40),
    /// Sleep between two looks of a searching worker, instead of a yield; -1 and 0: none. It delays every wake-up.
    TASK_POLLING_WAIT("taskPollingWait", "us", -1, 1_000_000, -1),
    /// Backstop of a sleep.
    WORKER_SUSPEND_TIMEOUT("workerSuspendTimeout", "us", 1000, 3_600_000_000L, 1_000_000),
    /// Whether a thread always submits to the same inbox (else round robin).
    PREFERRED_WORKER_FOR_THREAD("preferredWorkerForThread", "bool", 0, 1, 1),
    /// Work between two looks at outside tasks.
    FAIRNESS_INTERVAL("fairnessInterval", "us", 1, 1_000_000, 200),
    /// Share of the looks that take a worker's ordinary tasks before its pinned ones.
    LOCAL_FIRST_THOUSANDTHS("localFirstThousandths", "thousandths", 0, 1000, 100),
    /// Tasks that a lane runs before it is queued again.
    LANE_BATCH("laneBatch", "tasks", 1, 4096, 16),
    /// Successors run in a row before the last one is queued.
    TAIL_LIMIT("tailLimit", "tasks", 1, 4096, 16),
    /// Polling of conditions that have a check.
    WATCHER_INTERVAL("watcherInterval", "us", 10, 60_000_000, 1000),
    /// Polls that find a condition's check false before the check goes to the workers' queues, where it can be stolen;
    /// 0 is never.
    CONDITION_MISS_LIMIT("conditionMissLimit", "misses", 0, 1_000_000_000, 1000),
    /// Jobs of up to this work level run on the submitting thread.
    LIGHTWEIGHT_JOB_LEVEL("lightweightJobLevel", "level", 0, 60, 0),
    /// Tasks of one job that run on the submitting thread before the rest goes to the workers.
    CALLER_LIMIT("callerLimit", "tasks", 1, 1 << 20, 256),
    /// Messages that may wait for one process.
    PROCESS_QUEUE_LIMIT("processQueueLimit", "messages", 1, 1 << 30, 1 << 16),
    /// Time after which [TaskContext#shouldYield()] becomes true; 0 is never.
    PREEMPT_AFTER("preemptAfter", "ms", 0, 3_600_000, 10),
    /// Time after which a running task is reported with its stack, and again whenever it has doubled; 0 is never.
    HANG_AFTER("hangAfter", "ms", 0, 86_400_000, 30_000),
    /// One outside task in so many is timed, the number rounded up to a power of two; 0 is none.
    LATENCY_SAMPLING("latencySampling", "tasks", 0, 1 << 30, 256),
    /// Grace of [TaskScheduler#close()].
    CLOSE_GRACE("closeGrace", "ms", 0, 3_600_000, 10_000);

    private final String key;
    private final String unit;
    private final long min;
    private final long max;
    private final long defaultValue;

    Parameter(String key, String unit, long min, long max, long defaultValue) {
      this.key = key;
      this.unit = unit;
      this.min = min;
      this.max = max;
      this.defaultValue = defaultValue;
    }

    /// Name in configuration files and messages.
    public String key() {
      return key;
    }

    /// Unit of the value: threads, kB, tasks, us, ms, bool (0 or 1), level, looks, workers, misses, thousandths,
    /// messages.
    public String unit() {
      return unit;
    }

    /// Smallest value.
    public long min() {
      return min;
    }

    /// Largest value.
    public long max() {
      return max;
    }

    /// Value when nothing is set.
    public long defaultValue() {
      return defaultValue;
    }
  }

  /// The settings with named values: key, values and default.
  public enum Choice {
    /// Order of a worker's own tasks.
    LOCAL_ORDER("localOrder", LocalOrder.LIFO),
    /// Order of a thief's victims.
    VICTIM_ORDER("victimOrder", VictimOrder.LAST_FIRST),
    /// How waiting tasks get to sleeping workers.
    DISTRIBUTION("distribution", Distribution.SEARCH),
    /// Policy for full inboxes.
    REJECTION_POLICY("rejectionPolicy", RejectionPolicy.BLOCK);

    private final String key;
    private final Enum<?> defaultValue;

    Choice(String key, Enum<?> defaultValue) {
      this.key = key;
      this.defaultValue = defaultValue;
    }

    /// Name in configuration files and messages.
    public String key() {
      return key;
    }

    /// Name of the value when nothing is set.
    public String defaultValue() {
      return defaultValue.name();
    }

    /// Names of all values.
    public List<String> names() {
      return Arrays.stream(constants()).map(Enum::name).toList();
    }

    private Enum<?>[] constants() {
      return defaultValue.getDeclaringClass().getEnumConstants();
    }
  }

  private final EnumMap<Parameter, Long> values;
  private final EnumMap<Choice, Enum<?>> choices;
  private final Topology topology;
  private final IntConsumer onWorkerStart;
  private final UncaughtHandler uncaught;
  private final Consumer<LongTask> onLongTask;
  private final String threadNamePrefix;

  private SchedulerConfig(Builder builder) {
    values = new EnumMap<>(builder.values);
    choices = new EnumMap<>(builder.choices);
    topology = builder.topology;
    onLongTask = builder.onLongTask;
    onWorkerStart = builder.onWorkerStart;
    uncaught = builder.uncaught;
    threadNamePrefix = builder.threadNamePrefix;
  }

  /// A builder with every default.
  public static Builder builder() {
    return new Builder();
  }

  /// The defaults.
  public static SchedulerConfig defaults() {
    return builder().build();
  }

  /// Value of a numeric setting, in its unit.
  public long get(Parameter parameter) {
    return values.getOrDefault(parameter, parameter.defaultValue);
  }

  /// Number of workers.
  public int workers() {
    return (int) get(Parameter.WORKERS);
  }

  /// Most workers that search at once, with the default resolved.
  public int maxSearchers() {
    long set = get(Parameter.MAX_SEARCHERS);
    if (distribution() == Distribution.ROLE) {
      return 1; // the distributor
    }
    if (flag(Parameter.BUSY_WORKER)) {
      return workers(); // who may not search would sleep
    }
    return set == 0 ? Math.max(1, workers() / 2) : (int) Math.min(set, workers());
  }

  /// Order of a worker's own tasks.
  public LocalOrder localOrder() {
    return (LocalOrder) choice(Choice.LOCAL_ORDER);
  }

  /// Order of a thief's victims.
  public VictimOrder victimOrder() {
    return (VictimOrder) choice(Choice.VICTIM_ORDER);
  }

  /// How waiting tasks get to sleeping workers.
  public Distribution distribution() {
    return (Distribution) choice(Choice.DISTRIBUTION);
  }

  /// Policy for full inboxes.
  public RejectionPolicy rejectionPolicy() {
    return (RejectionPolicy) choice(Choice.REJECTION_POLICY);
  }

  private Enum<?> choice(Choice choice) {
    return choices.getOrDefault(choice, choice.defaultValue);
  }

  /// Which workers are near each other.
  public Topology topology() {
    return topology;
  }

  /// Runs first on each worker thread, with the worker's index: the place to pin threads to cores.
  public IntConsumer onWorkerStart() {
    return onWorkerStart;
  }

  /// Handler of exceptions outside any job.
  public UncaughtHandler uncaught() {
    return uncaught;
  }

  /// Receives tasks that run longer than `hangAfter`.
  public Consumer<LongTask> onLongTask() {
    return onLongTask;
  }

  /// Start of the names of all threads; the workers are `<prefix>-worker-<index>`.
  public String threadNamePrefix() {
    return threadNamePrefix;
  }

  public int intValue(Parameter parameter) {
    return (int) get(parameter);
  }

  boolean flag(Parameter parameter) {
    return get(parameter) != 0;
  }

  long nanos(Parameter parameter) {
    long value = get(parameter);
    return switch (parameter.unit()) {
      case "us" -> Duration.of(value, java.time.temporal.ChronoUnit.MICROS).toNanos();
      case "ms" -> Duration.ofMillis(value).toNanos();
      default -> throw new AssertionError(parameter.key() + " is not a time");
    };
  }

  /// Collects settings. Not thread-safe.
  public static final class Builder {
    private final EnumMap<Parameter, Long> values = new EnumMap<>(Parameter.class);
    private final EnumMap<Choice, Enum<?>> choices = new EnumMap<>(Choice.class);
    private Topology topology = Topology.machine();
    private IntConsumer onWorkerStart = index -> {};
    private UncaughtHandler uncaught =
        (where, thrown) ->
            System.getLogger(TaskScheduler.class.getName())
                .log(System.Logger.Level.ERROR, "uncaught exception in " + where, thrown);
    private Consumer<LongTask> onLongTask =
        task ->
            System.getLogger(TaskScheduler.class.getName())
                .log(System.Logger.Level.WARNING, () -> task + task.stackText());
    private String threadNamePrefix = "kakehashi";

    private Builder() {}

    /// Sets a numeric value, in the parameter's unit.
    ///
    /// @throws IllegalArgumentException if out of range, or if a capacity is not a power of two
    public Builder set(Parameter parameter, long value) {
      if (value < parameter.min || value > parameter.max) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "\"%s\" must be between %d and %d %s, not %d",
                parameter.key,
                parameter.min,
                parameter.max,
                parameter.unit,
                value));
      }
      boolean ring = parameter == Parameter.LOCAL_CAPACITY || parameter == Parameter.INBOX_CAPACITY;
      if (ring && Long.bitCount(value) != 1) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "\"%s\" must be a power of two, not %d: try %d",
                parameter.key,
                value,
                Math.min(parameter.max, Long.highestOneBit(value) << 1)));
      }
      values.put(parameter, value);
      return this;
    }

    /// Sets a value by its key, as configuration files do: a number in the parameter's unit, or the name of a
    /// choice's value.
    ///
    /// @throws IllegalArgumentException if the key is unknown (the message suggests the nearest one) or the
    ///     value is not allowed
    public Builder set(String key, String value) {
      for (Choice choice : Choice.values()) {
        if (choice.key.equals(key)) {
          choices.put(choice, parseValue(choice, value.trim()));
          return this;
        }
      }
      Parameter parameter = find(key);
      try {
        return set(parameter, parseValue(parameter, value.trim()));
      } catch (NumberFormatException e) {
        String allowed =
            parameter.unit.equals("bool") ? "true or false" : "a number of " + parameter.unit;
        throw new IllegalArgumentException(
            "\"" + key + "\" must be " + allowed + ", not \"" + value + "\"", e);
      }
    }

    private static Enum<?> parseValue(Choice choice, String value) {
      for (Enum<?> constant : choice.constants()) {
        if (constant.name().equalsIgnoreCase(value)) {
          return constant;
        }
      }
      throw new IllegalArgumentException(
          "\"" + choice.key + "\" must be one of " + choice.names() + ", not \"" + value + "\"");
    }

    private static long parseValue(Parameter parameter, String value) {
      if (parameter.unit.equals("bool") && value.equals("true")) {
        return 1;
      }
      if (parameter.unit.equals("bool") && value.equals("false")) {
        return 0;
      }
      return Long.parseLong(value);
    }

    private static Parameter find(String key) {
      List<String> keys = new ArrayList<>();
      for (Parameter parameter : Parameter.values()) {
        if (parameter.key.equals(key)) {
          return parameter;
        }
        keys.add(parameter.key);
      }
      for (Choice choice : Choice.values()) {
        keys.add(choice.key);
      }
      String nearest = Collections.min(keys, Comparator.comparingInt(k -> editDistance(k, key)));
      throw new IllegalArgumentException(
          "unknown scheduler setting \"" + key + "\": did you mean \"" + nearest + "\"?");
    }

    private static int editDistance(String a, String b) {
      int[] row = new int[b.length() + 1];
      Arrays.setAll(row, i -> i);
      for (int i = 1; i <= a.length(); i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= b.length(); j++) {
          int replace = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
          diagonal = row[j];
          row[j] = Math.min(replace, Math.min(row[j], row[j - 1]) + 1);
        }
      }
      return row[b.length()];
    }

    /// Number of workers.
    public Builder workers(int workers) {
      return set(Parameter.WORKERS, workers);
    }

    /// Order of a worker's own tasks.
    public Builder localOrder(LocalOrder order) {
      choices.put(Choice.LOCAL_ORDER, Objects.requireNonNull(order, "order"));
      return this;
    }

    /// Order of a thief's victims.
    public Builder victimOrder(VictimOrder order) {
      choices.put(Choice.VICTIM_ORDER, Objects.requireNonNull(order, "order"));
      return this;
    }

    /// How waiting tasks get to sleeping workers.
    public Builder distribution(Distribution distribution) {
      choices.put(Choice.DISTRIBUTION, Objects.requireNonNull(distribution, "distribution"));
      return this;
    }

    /// Policy for full inboxes.
    public Builder rejectionPolicy(RejectionPolicy policy) {
      choices.put(Choice.REJECTION_POLICY, Objects.requireNonNull(policy, "policy"));
      return this;
    }

    /// Which workers are near each other; the default is what the machine says.
    public Builder topology(Topology topology) {
      this.topology = Objects.requireNonNull(topology, "topology");
      return this;
    }

    /// Hook that runs first on each worker thread.
    public Builder onWorkerStart(IntConsumer hook) {
      onWorkerStart = Objects.requireNonNull(hook, "hook");
      return this;
    }

    /// Handler of exceptions outside any job; the default logs them.
    public Builder uncaught(UncaughtHandler handler) {
      uncaught = Objects.requireNonNull(handler, "handler");
      return this;
    }

    /// Handler of tasks that run longer than `hangAfter`; called on the watcher's thread, must be quick. The default
    /// logs a warning with the stack.
    public Builder onLongTask(Consumer<LongTask> handler) {
      onLongTask = Objects.requireNonNull(handler, "handler");
      return this;
    }

    /// Start of the names of all threads.
    public Builder threadNamePrefix(String prefix) {
      threadNamePrefix = Objects.requireNonNull(prefix, "prefix");
      return this;
    }

    /// The finished configuration.
    ///
    /// @throws IllegalArgumentException if settings contradict each other
    public SchedulerConfig build() {
      SchedulerConfig config = new SchedulerConfig(this);
      if (config.distribution() == Distribution.ROLE && config.flag(Parameter.BUSY_WORKER)) {
        throw new IllegalArgumentException(
            "\"distribution\" ROLE needs workers that sleep, \"busyWorker\" forbids it");
      }
      if (config.distribution() == Distribution.ROLE && !config.flag(Parameter.STEALING)) {
        throw new IllegalArgumentException("\"distribution\" ROLE needs \"stealing\"");
      }
      return config;
    }
  }
}
