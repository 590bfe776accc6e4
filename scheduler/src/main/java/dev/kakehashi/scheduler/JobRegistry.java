package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.platform.Platform;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// All jobs that have not ended, so that a shutdown can wait for them or cancel them and a dump can list them.
///
/// Striped by submitting thread. A stripe is a table of slots: a submitter takes a free slot under the stripe's
/// lock, and the thread that ends the job, mostly another one, clears the slot without it. (A linked list under
/// the lock made submitters and workers meet at each job.) Closing a stripe under its lock makes "accepted before"
/// and "refused after" exact.
///
/// ```
///  slots   submitter, under the lock (null -> job, release); ender (job -> null, volatile)
///  closed  the closer, under the lock; an ender reads it after clearing its slot and then notifies the closer,
///          who looks at the slots after having closed: one of them sees the other
/// ```
final class JobRegistry {
  private static final int FIRST_SLOTS = 64;
  private static final long OTHERS_NANOS = 2_000_000;
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Job[].class);

  private static final class Stripe {
    final int index;
    // All but `current` are full tables that were outgrown; they are dropped once empty.
    final List<@Nullable Job[]> tables = new ArrayList<>();
    @Nullable Job[] current = new @Nullable Job[FIRST_SLOTS];
    int cursor;
    long sequence;
    long accepted; // jobs that brought a task, without those that were refused after all
    volatile boolean closed;

    Stripe(int index) {
      this.index = index;
      tables.add(current);
    }

    void place(Job job) {
      int mask = current.length - 1;
      // Past three quarters the search would be longer than a copy is worth.
      for (int probes = current.length / 4 * 3; probes > 0; probes--) {
        int slot = cursor++ & mask;
        if (SLOT.getAcquire(current, slot) == null) {
          job.registryTable = current;
          job.registrySlot = slot;
          SLOT.setRelease(current, slot, job);
          return;
        }
      }
      tables.removeIf(table -> isEmpty(table));
      current = new @Nullable Job[2 * current.length];
      tables.add(current);
      cursor = 0;
      place(job);
    }

    boolean isEmpty() {
      return tables.stream().allMatch(Stripe::isEmpty);
    }

    private static boolean isEmpty(@Nullable Job[] table) {
      for (int i = 0; i < table.length; i++) {
        if (SLOT.getVolatile(table, i) != null) {
          return false;
        }
      }
      return true;
    }
  }

  private final Stripe[] stripes;
  private final EventCount ended = new EventCount();

  private final BooleanSupplier othersEnded;

  /// @param othersEnded whether what is no job has ended, too; once true after [#close], it stays
  JobRegistry(int concurrency, BooleanSupplier othersEnded) {
    this.othersEnded = othersEnded;
    stripes = new Stripe[Integer.highestOneBit(Math.max(1, concurrency)) << 1];
    for (int i = 0; i < stripes.length; i++) {
      stripes[i] = new Stripe(i);
    }
  }

  /// Gives the job its id and a slot; false after [#close].
  boolean add(Job job) {
    return add(job, false);
  }

  /// As [#add], also after [#close]: the job of a task that was accepted before.
  void addAlways(Job job) {
    add(job, true);
  }

  private boolean add(Job job, boolean always) {
    Stripe stripe =
        stripes[(int) Platform.threadId(Platform.currentThread()) & (stripes.length - 1)];
    synchronized (stripe) {
      if (stripe.closed && !always) {
        return false;
      }
      stripe.accepted += always ? 0 : 1;
      job.id = ++stripe.sequence * stripes.length + stripe.index;
      stripe.place(job);
      return true;
    }
  }

  /// Whether every job is refused from now on.
  boolean isClosed() {
    for (Stripe stripe : stripes) {
      if (!stripe.closed) {
        return false;
      }
    }
    return true;
  }

  /// Removes a job that was refused after all.
  void refuse(Job job) {
    Stripe stripe = stripe(job);
    synchronized (stripe) {
      stripe.accepted--;
    }
    remove(job);
  }

  /// Bootstrap tasks ever accepted.
  long accepted() {
    long sum = 0;
    for (Stripe stripe : stripes) {
      synchronized (stripe) {
        sum += stripe.accepted;
      }
    }
    return sum;
  }

  private Stripe stripe(Job job) {
    return stripes[(int) job.id & (stripes.length - 1)];
  }

  void remove(Job job) {
    @Nullable Job[] table = job.registryTable;
    if (table == null) {
      return;
    }
    job.registryTable = null;
    Stripe stripe = stripe(job);
    SLOT.setVolatile(table, job.registrySlot, null);
    if (stripe.closed) {
      ended.notifyWaiters();
    }
  }

  void close() {
    for (Stripe stripe : stripes) {
      synchronized (stripe) {
        stripe.closed = true;
      }
    }
  }

  /// Waits until no job is left, nor anything else that was accepted; only after [#close]. False if the time ran out first.
  boolean awaitEmpty(Duration timeout) throws InterruptedException {
    long deadlineNanos = Platform.nanoTime() + timeout.toNanos();
    for (; ; ) {
      long key = ended.prepare();
      // Others first: one of them may become a job.
      boolean others = othersEnded.getAsBoolean();
      boolean jobs = isEmpty();
      if (others && jobs) {
        ended.cancel(key);
        return true;
      }
      long left = deadlineNanos - Platform.nanoTime();
      // The end of work that is no job notifies nobody.
      ended.await(key, Duration.ofNanos(others ? left : Math.min(left, OTHERS_NANOS)));
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      if (left <= 0) {
        return false;
      }
    }
  }

  private boolean isEmpty() {
    for (Stripe stripe : stripes) {
      synchronized (stripe) {
        if (!stripe.isEmpty()) {
          return false;
        }
      }
    }
    return true;
  }

  /// Jobs that have not ended.
  List<Job> live() {
    List<Job> jobs = new ArrayList<>();
    for (Stripe stripe : stripes) {
      synchronized (stripe) {
        for (@Nullable Job[] table : stripe.tables) {
          for (int i = 0; i < table.length; i++) {
            Job job = (Job) SLOT.getAcquire(table, i);
            if (job != null) {
              jobs.add(job);
            }
          }
        }
      }
    }
    return jobs;
  }
}
