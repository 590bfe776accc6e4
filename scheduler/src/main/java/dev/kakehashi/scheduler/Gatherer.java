package dev.kakehashi.scheduler;

import dev.kakehashi.scheduler.SchedulerConfig.Parameter;
import dev.kakehashi.scheduler.metrics.Counters;
import dev.kakehashi.scheduler.platform.Platform;
import dev.kakehashi.scheduler.platform.Platform.Mutation;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Takes tasks for a worker from elsewhere: from the inboxes, the overflow, its pinned queue or another worker. Taken tasks are in the
/// worker's hand, `batch`, until they are in its deque or run.
///
/// Confined to the worker's thread, except that a distributor fills the hand of a worker that sleeps ([#receive]);
/// the wake-up orders that. The methods that take return how many tasks they took.
final class Gatherer {
  private final TaskScheduler scheduler;
  private final Counters counters;
  private final StealHalfDeque deque;
  private final Victims victims;
  private final int worker;
  private final int batchLimit;
  private int nextInbox;

  // Pairs (task, job); null behind what is in hand.
  private final @Nullable Object[] batch;

  Gatherer(TaskScheduler scheduler, Counters counters, int worker, StealHalfDeque deque) {
    this.deque = deque;
    this.scheduler = scheduler;
    this.counters = counters;
    this.worker = worker;
    victims = new Victims(scheduler, counters, worker);
    batchLimit = scheduler.config().intValue(Parameter.GLOBAL_BATCH);
    int stealLimit = scheduler.config().intValue(Parameter.STEAL_LIMIT);
    batch = new @Nullable Object[2 * Math.max(batchLimit, stealLimit)];
  }

  int fromOutside() {
    int n = fromInboxes(batchLimit, worker);
    return n > 0 ? n : fromOverflow();
  }

  /// One task, from each inbox in turn: so that one of them, always full, does not hide the others.
  int fromNextInbox() {
    nextInbox = nextInbox + 1 == scheduler.inboxes().length ? 0 : nextInbox + 1;
    return fromInboxes(1, nextInbox);
  }

  private int fromInboxes(int max, int first) {
    giveBack();
    Inbox[] inboxes = scheduler.inboxes();
    for (int i = 0, at = first; i < inboxes.length; i++) {
      Inbox inbox = inboxes[at];
      int share = inbox.share(max, inboxes.length);
      if (share > 0) {
        int n = taken(inbox.drain(batch, share, counters));
        if (n > 0) {
          return n;
        }
      }
      at = at + 1 == inboxes.length ? 0 : at + 1;
    }
    return 0;
  }

  /// One task of that inbox.
  int fromInbox(Inbox inbox) {
    giveBack();
    return taken(inbox.drain(batch, 1, counters));
  }

  private int taken(int n) {
    if (n > 0) {
      counters.add(Counters.INBOX_TAKEN, n);
      counters.add(Counters.INBOX_BATCHES);
    }
    return n;
  }

  int fromOverflow() {
    giveBack();
    int n = scheduler.overflow().drain(batch, batchLimit);
    if (n > 0) {
      counters.add(Counters.OVERFLOW_TAKEN, n);
    }
    return n;
  }

  int fromVictims(int least) {
    giveBack();
    return victims.steal(batch, least);
  }

  int fromPinned(OverflowQueue pinned) {
    giveBack();
    int n = pinned.drain(batch, 1);
    if (n > 0) {
      counters.add(Counters.PINNED_RUN);
    }
    return n;
  }

  /// Copies another worker's hand, which it then [#letGo]es.
  void receive(Gatherer from, int n) {
    System.arraycopy(from.batch, 0, batch, 0, 2 * n);
  }

  Task firstTask() {
    return (Task) Objects.requireNonNull(batch[0]);
  }

  @Nullable Job firstJob() {
    return (Job) batch[1];
  }

  /// Moves all but the first into the deque, with `newestLast` the first of them at its newest end, and what has no room there
  /// into the overflow.
  void keepRest(int n, boolean newestLast) {
    int left = n - 1 - deque.pushBatch(batch, 1, n, newestLast);
    if (left > 0) {
      int from = newestLast ? 1 : n - left;
      scheduler.overflow().addAll(batch, from, from + left);
    }
  }

  /// Forgets the first.
  void letGoFirst() {
    batch[0] = null;
    batch[1] = null;
  }

  /// Forgets `n` tasks.
  void letGo(int n) {
    Arrays.fill(batch, 0, 2 * n, null);
  }

  /// Puts the tasks in hand where others find them. There are some if the thread that held them has failed, or a task whose stack was full
  /// when it spawned. A worker that takes from elsewhere looks first.
  void giveBack() {
    if (batch[0] != null) {
      giveAllBack();
    }
  }

  // The first one last: it says whether there are more.
  private void giveAllBack() {
    for (int i = batch.length / 2 - 1; i >= 0; i--) {
      if (batch[2 * i] != null && deque.pushBatch(batch, i, i + 1, false) == 0) {
        scheduler.overflow().addAll(batch, i, i + 1);
      }
    }
  }

  /// Moves the older half of the own deque to the overflow, as much as fits into a hand; returns how many.
  int spill() {
    giveBack();
    int n = deque.takeOldest(batch, deque.size() / 2);
    if (Platform.mutated(Mutation.OVERFLOW_INTO_INBOX)) {
      for (int i = 0; i < n; i++) {
        Task task = (Task) Objects.requireNonNull(batch[2 * i]);
        scheduler.inboxes()[worker].offer(task, (Job) batch[2 * i + 1]);
      }
      letGo(n);
    } else {
      scheduler.overflow().addAll(batch, 0, n);
    }
    counters.add(Counters.OVERFLOW_MOVED, n);
    return n;
  }
}
