package dev.kakehashi.scheduler;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.kakehashi.scheduler.metrics.Counters;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/// Deque and inbox on the real memory model, two threads each, millions of times, as [ProtocolStress] the others.
public class QueueStress {
  private QueueStress() {}

  /// Queued item: its taker counts it, and its value is written plainly before it is published.
  static final class Item implements Task {
    int value;
    int byOwner;
    int byThief;

    @Override
    public @Nullable Task run(TaskContext context) {
      return null;
    }

    static Item[] make(int n) {
      Item[] items = new Item[n];
      for (int i = 0; i < n; i++) {
        items[i] = new Item();
      }
      return items;
    }

    static void owner(@Nullable Object taken) {
      if (taken != null) {
        ((Item) taken).byOwner++;
      }
    }

    /// How many of the taken items are not as they were published.
    static int thief(@Nullable Object[] batch, int n) {
      int unseen = 0;
      for (int i = 0; i < n; i++) {
        Item item = (Item) batch[2 * i];
        if (item == null) {
          unseen++;
        } else {
          item.byThief++;
          unseen += item.value == 1 ? 0 : 1;
        }
      }
      return unseen;
    }

    static int thiefTwice(@Nullable Object[] batch, StealHalfDeque deque) {
      int unseen = thief(batch, deque.stealHalf(batch, 4, 1));
      return unseen + thief(batch, deque.stealHalf(batch, 4, 1));
    }

    /// Tasks that are left in the deque belong to its owner.
    static void judge(Item[] items, StealHalfDeque deque, III_Result r) {
      for (Task left = deque.popOldest(); left != null; left = deque.popOldest()) {
        owner(left);
      }
      judge(items, r);
    }

    static void judge(Item[] items, III_Result r) {
      for (Item item : items) {
        int times = item.byOwner + item.byThief;
        r.r1 += times == 0 ? 1 : 0;
        r.r2 += times > 1 ? 1 : 0;
      }
    }
  }

  /// Three items in a deque that a thief has been at; the owner pops them, a thief takes half twice.
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "each item once, as it was published")
  @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or read before it was written")
  @State
  public static class DequeShared {
    private final Item[] items = Item.make(4);
    private final StealHalfDeque deque = new StealHalfDeque(4, -2);
    private final @Nullable Object[] batch = new @Nullable Object[8];

    public DequeShared() {
      for (int i = 0; i < 4; i++) {
        items[i].value = 1;
        deque.push(items[i], null);
      }
      Item.thief(batch, deque.stealHalf(batch, 1, 1));
    }

    @Actor
    public void owner() {
      Item.owner(deque.popNewest());
      Item.owner(deque.popNewest());
      Item.owner(deque.popNewest());
    }

    @Actor
    public void thief(III_Result r) {
      r.r3 = Item.thiefTwice(batch, deque);
    }

    @Arbiter
    public void judge(III_Result r) {
      Item.judge(items, deque, r);
    }
  }

  /// Four items; the owner pops three and pushes one, a thief takes half.
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "each item once, as it was published")
  @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or read before it was written")
  @State
  public static class DequePops {
    private final Item[] items = Item.make(5);
    private final StealHalfDeque deque = new StealHalfDeque(4, -2);
    private final @Nullable Object[] batch = new @Nullable Object[8];

    public DequePops() {
      for (int i = 0; i < 4; i++) {
        items[i].value = 1;
        deque.push(items[i], null);
      }
    }

    @Actor
    public void owner() {
      Item.owner(deque.popNewest());
      Item.owner(deque.popNewest());
      Item.owner(deque.popNewest());
      items[4].value = 1;
      if (!deque.push(items[4], null)) {
        Item.owner(items[4]);
      }
    }

    @Actor
    public void thief(III_Result r) {
      r.r3 = Item.thief(batch, deque.stealHalf(batch, 4, 1));
    }

    @Arbiter
    public void judge(III_Result r) {
      Item.judge(items, deque, r);
    }
  }

  /// The owner goes round the ring while a thief is slow.
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "each item once, as it was published")
  @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or read before it was written")
  @State
  public static class DequeWrap {
    private final Item[] items = Item.make(6);
    private final StealHalfDeque deque = new StealHalfDeque(4, 0);
    private final @Nullable Object[] batch = new @Nullable Object[8];

    public DequeWrap() {
      items[0].value = 1;
      items[1].value = 1;
      deque.push(items[0], null);
      deque.push(items[1], null);
    }

    @Actor
    public void owner() {
      for (int i = 2; i < 6; i++) {
        items[i].value = 1;
        if (!deque.push(items[i], null)) {
          Item.owner(items[i]);
        }
      }
      Item.owner(deque.popOldest());
    }

    @Actor
    public void thief(III_Result r) {
      r.r3 = Item.thiefTwice(batch, deque);
    }

    @Arbiter
    public void judge(III_Result r) {
      Item.judge(items, deque, r);
    }
  }

  /// A submitter and a worker at one inbox.
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "each item once, as it was published")
  @Outcome(expect = FORBIDDEN, desc = "lost, taken twice, or read before it was written")
  @State
  public static class InboxDrain {
    private final Item[] items = Item.make(5);
    private final Inbox inbox = new Inbox(4, ProtocolStress.noJob(), new EventCount(), 0);
    private final @Nullable Object[] batch = new @Nullable Object[16];
    private final Counters counters = new Counters();

    public InboxDrain() {
      items[0].value = 1;
      inbox.offer(items[0], null);
    }

    @Actor
    public void submitter() {
      for (int i = 1; i < 5; i++) {
        items[i].value = 1;
        if (!inbox.offer(items[i], null)) {
          Item.owner(items[i]);
        }
      }
    }

    @Actor
    public void worker(III_Result r) {
      int unseen = Item.thief(batch, inbox.drain(batch, 2, counters));
      r.r3 = unseen + Item.thief(batch, inbox.drain(batch, 4, counters));
    }

    @Arbiter
    public void judge(III_Result r) {
      int n = inbox.drain(batch, 8, counters);
      for (int i = 0; i < n; i++) {
        Item.owner(batch[2 * i]);
      }
      Item.judge(items, r);
    }
  }
}
