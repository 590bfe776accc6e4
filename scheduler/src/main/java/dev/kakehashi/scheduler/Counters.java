package dev.kakehashi.scheduler;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// Counts of one runner: written by its thread alone, with opaque stores instead of RMWs (under 1 ns), and
/// read by anyone at any time. A reader sees each counter whole and never going back, but no two of them at
/// the same instant.
final class Counters {
  static final int ACCEPTED = 0;
  static final int TASKS_RUN = 1;
  static final int TASKS_FAILED = 2;
  static final int TASKS_DISCARDED = 3;
  static final int TAIL_RUNS = 4;
  static final int JOBS_DONE = 5;
  static final int COUNT = 32;

  private static final VarHandle VALUES = MethodHandles.arrayElementVarHandle(long[].class);

  // 16 unused longs at both ends keep other objects' cache lines away.
  private static final int PAD = 16;
  private final long[] values = new long[COUNT + 2 * PAD];

  void add(int counter) {
    add(counter, 1);
  }

  void add(int counter, long by) {
    VALUES.setOpaque(values, PAD + counter, values[PAD + counter] + by);
  }

  long get(int counter) {
    return (long) VALUES.getOpaque(values, PAD + counter);
  }
}
