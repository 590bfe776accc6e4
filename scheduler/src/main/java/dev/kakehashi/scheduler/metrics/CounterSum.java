package dev.kakehashi.scheduler.metrics;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/// All counters of a scheduler: the workers' own, those of threads that ran light jobs themselves, and adders for
/// events on other threads. Thread-safe.
public final class CounterSum {
  private record Caller(WeakReference<Thread> thread, Counters counters) {}

  private final List<Counters> workers;
  private final LongAdder[] shared = new LongAdder[Counters.NAMES.size()];
  private final Latencies ended = new Latencies(); // of threads that have ended; guarded by callers
  private final List<Caller> callers = new ArrayList<>(); // guarded by itself

  public CounterSum(List<Counters> workers) {
    this.workers = List.copyOf(workers);
    java.util.Arrays.setAll(shared, i -> new LongAdder());
  }

  public void addShared(int counter, long by) {
    shared[counter].add(by);
  }

  /// Counters for the current thread. Counters of threads that have ended are added up and let go.
  public Counters newCaller() {
    Counters counters = new Counters();
    synchronized (callers) {
      callers.removeIf(this::foldDead);
      callers.add(new Caller(new WeakReference<>(Thread.currentThread()), counters));
    }
    return counters;
  }

  private boolean foldDead(Caller caller) {
    Thread thread = caller.thread.get();
    if (thread != null && thread.isAlive()) {
      return false;
    }
    for (int i = 0; i < shared.length; i++) {
      shared[i].add(caller.counters.get(i));
    }
    ended.add(caller.counters.latencies);
    return true;
  }

  public long[] total() {
    long[] sums = new long[shared.length];
    synchronized (callers) {
      for (int i = 0; i < sums.length; i++) {
        sums[i] = shared[i].sum();
        for (Counters counters : workers) {
          sums[i] += counters.get(i);
        }
        for (Caller caller : callers) {
          sums[i] += caller.counters.get(i);
        }
      }
    }
    return sums;
  }

  /// All histograms, added up.
  public Latencies latencies() {
    Latencies sum = new Latencies();
    synchronized (callers) {
      sum.add(ended);
      workers.forEach(each -> sum.add(each.latencies));
      callers.forEach(each -> sum.add(each.counters.latencies));
    }
    return sum;
  }

  public long sum(int counter) {
    return total()[counter];
  }

  public long[] worker(int index) {
    long[] values = new long[shared.length];
    java.util.Arrays.setAll(values, i -> workers.get(index).get(i));
    return values;
  }
}
