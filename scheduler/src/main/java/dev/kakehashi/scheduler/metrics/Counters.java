package dev.kakehashi.scheduler.metrics;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/// Counts of one runner: written by its thread alone, with opaque stores instead of RMWs (under 1 ns), and
/// read by anyone at any time. A reader sees each counter whole and never going back, but no two of them at
/// the same instant.
public final class Counters {
  public static final int ACCEPTED = 0;
  public static final int TASKS_RUN = 1;
  public static final int TASKS_FAILED = 2;
  public static final int TASKS_DISCARDED = 3;
  static final int TAIL_RUNS = 4;
  public static final int JOBS_DONE = 5;
  public static final int JOBS_FAILED = 6;
  public static final int STEAL_ATTEMPTS = 7;
  public static final int STEAL_SUCCESSES = 8;
  public static final int STEAL_ITEMS = 9;
  public static final int INBOX_TAKEN = 10;
  public static final int INBOX_BATCHES = 11;
  public static final int OVERFLOW_MOVED = 12;
  public static final int OVERFLOW_TAKEN = 13;
  public static final int PARKS = 14;
  public static final int PARK_TIMEOUTS = 15;
  public static final int PARK_TIMEOUTS_WITH_WORK = 16;
  public static final int WAKES_SENT = 17;
  public static final int SPIN_HITS = 18;
  public static final int FAIRNESS_LOOKS = 19;
  public static final int JOBS_ON_CALLER = 20;
  public static final int LANES_SCHEDULED = 21;
  public static final int CONDITIONS_CHECKED = 22;
  public static final int CONDITIONS_FIRED = 23;
  public static final int UNCAUGHT = 24;
  public static final int PREEMPT_REQUESTED = 25;
  public static final int PREEMPT_HONOURED = 26;
  public static final int HANGS = 27;
  public static final int PINNED_RUN = 28;
  public static final int DISTRIBUTED = 29;
  public static final int CONDITIONS_PROMOTED = 30;
  public static final int JOBLESS_TAKEN = 31;
  public static final int JOBLESS_ENDED = 32;
  public static final int RATE_DELAYED = 33;
  public static final int PROCESS_STEPS = 34;
  public static final int PROCESSES_DONE = 35;
  public static final int PROCESSES_FAILED = 36;
  public static final int EVENTS_DROPPED = 37;
  public static final int WORKERS_REPLACED = 38;
  public static final int WAKES_RECEIVED = 39;
  public static final int LANE_RUNS = 40;
  public static final int CONDITION_WAITS = 41;

  /// Names in the order of the constants.
  static final List<String> NAMES =
      List.of(
          "tasks.accepted",
          "tasks.run",
          "tasks.failed",
          "tasks.discarded",
          "tail.runs",
          "jobs.done",
          "jobs.failed",
          "steal.attempts",
          "steal.successes",
          "steal.items",
          "inbox.taken",
          "inbox.batches",
          "overflow.moved",
          "overflow.taken",
          "park.count",
          "park.timeout",
          "park.timeoutWithWork",
          "wake.sent",
          "spin.hits",
          "fairness.looks",
          "jobs.onCaller",
          "lane.scheduled",
          "condition.checks",
          "condition.fired",
          "uncaught",
          "preempt.requested",
          "preempt.honoured",
          "hang.detected",
          "pinned.run",
          "role.distributed",
          "condition.promoted",
          "jobless.taken",
          "jobless.ended",
          "rate.delayed",
          "process.steps",
          "process.done",
          "process.failed",
          "process.eventsDropped",
          "workers.replaced",
          "wake.received",
          "lane.runs",
          "condition.waits");

  /// `-Dscheduler.metrics=false` leaves out what is there for people alone, to measure what it costs. Counters that the scheduler itself
  /// goes by always count.
  private static final boolean ALL = !"false".equals(System.getProperty("scheduler.metrics"));

  private static final VarHandle VALUES = MethodHandles.arrayElementVarHandle(long[].class);
  private static final VarHandle ACCEPTED_FIELD;
  private static final VarHandle RUN_FIELD;
  private static final VarHandle TAIL_RUNS_FIELD;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      ACCEPTED_FIELD = lookup.findVarHandle(Counters.class, "accepted", long.class);
      RUN_FIELD = lookup.findVarHandle(Counters.class, "run", long.class);
      TAIL_RUNS_FIELD = lookup.findVarHandle(Counters.class, "tailRuns", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // Counters of single tasks are fields: an array's element costs three dependent loads and two
  // comparisons. Unused longs keep other objects' cache lines away.
  @SuppressWarnings("unused")
  private long p0, p1, p2, p3, p4, p5, p6, p7;

  private long accepted;
  private long run;
  private long tailRuns;

  @SuppressWarnings("unused")
  private long q0, q1, q2, q3, q4, q5, q6, q7;

  // 16 unused longs at both ends keep other objects' cache lines away.
  private static final int PAD = 16;
  private final long[] values = new long[NAMES.size() + 2 * PAD];

  /// Written by the same thread.
  public final Latencies latencies = new Latencies();

  public void add(int counter) {
    add(counter, 1);
  }

  /// A task has run.
  public void ran() {
    RUN_FIELD.setOpaque(this, run + 1);
  }

  /// Tasks were accepted.
  public void accepted(long tasks) {
    if (ALL) {
      ACCEPTED_FIELD.setOpaque(this, accepted + tasks);
    }
  }

  /// That many successors ran at once.
  public void tailsRan(int tasks) {
    if (ALL && tasks != 0) {
      TAIL_RUNS_FIELD.setOpaque(this, tailRuns + tasks);
    }
  }

  /// Not for runs and tail runs, which have methods of their own.
  public void add(int counter, long by) {
    if (counter == ACCEPTED) {
      accepted(by);
      return;
    }
    if (!ALL && counter != JOBLESS_TAKEN && counter != JOBLESS_ENDED) {
      return;
    }
    VALUES.setOpaque(values, PAD + counter, values[PAD + counter] + by);
  }

  /// As [#add(int)]; a thread that reads the new value with acquire sees what this thread counted before.
  public void addReleased(int counter) {
    VALUES.setRelease(values, PAD + counter, values[PAD + counter] + 1);
  }

  /// How many tasks have run. Same thread.
  public long tasksRun() {
    return run;
  }

  public long get(int counter) {
    return switch (counter) {
      case ACCEPTED -> (long) ACCEPTED_FIELD.getOpaque(this);
      case TASKS_RUN -> (long) RUN_FIELD.getOpaque(this);
      case TAIL_RUNS -> (long) TAIL_RUNS_FIELD.getOpaque(this);
      default -> element(counter);
    };
  }

  private long element(int counter) {
    return (long) VALUES.getOpaque(values, PAD + counter);
  }
}
