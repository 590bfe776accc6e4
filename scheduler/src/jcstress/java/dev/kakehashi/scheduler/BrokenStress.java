package dev.kakehashi.scheduler;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.kakehashi.scheduler.platform.Fences;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/// Red witnesses: these must fail, otherwise the runs of [ProtocolStress] and [QueueStress] would prove nothing.
public class BrokenStress {
  private BrokenStress() {}

  /// The worker looks for tasks before it announces its sleep.
  @JCStressTest
  @Outcome(
      id = {"1, 0", "0, 1", "1, 1"},
      expect = ACCEPTABLE,
      desc = "someone sees")
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "a task beside a sleeping worker")
  @State
  public static class LookBeforeAnnouncement {
    private final StealHalfDeque deque = new StealHalfDeque(4, 0);
    private final Sleepers sleepers = new Sleepers(2, 1, false);
    private final QueueStress.Item item = new QueueStress.Item();

    @Actor
    public void spawner(II_Result r) {
      deque.push(item, null);
      r.r1 = sleepers.signal(false) ? 1 : 0;
    }

    @Actor
    public void worker(II_Result r) {
      r.r2 = deque.size() > 0 ? 1 : 0;
      sleepers.announce(ProtocolStress.lentWorker().sleeper, false);
    }
  }

  /// The light half of a fence against none.
  @JCStressTest
  @Outcome(
      id = {"1, 0", "0, 1", "1, 1"},
      expect = ACCEPTABLE,
      desc = "someone sees")
  @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "neither sees the other")
  @State
  public static class WithoutHeavyFence {
    private int x;
    private int y;

    @Actor
    public void often(II_Result r) {
      x = 1;
      Fences.light();
      r.r1 = y;
    }

    @Actor
    public void seldom(II_Result r) {
      y = 1;
      r.r2 = x;
    }
  }

  /// Two words; the owner pops without a CAS while it sees more than one item, the thief takes half by one CAS.
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "each item once")
  @Outcome(expect = FORBIDDEN, desc = "lost or taken twice")
  @State
  public static class NaiveHalf {
    private final QueueStress.Item[] items = QueueStress.Item.make(4);
    private final java.util.concurrent.atomic.AtomicInteger top =
        new java.util.concurrent.atomic.AtomicInteger();
    private volatile int bottom = 4;

    @Actor
    public void owner() {
      for (int i = 0; i < 3; i++) {
        int b = bottom - 1;
        bottom = b;
        if (top.get() < b) {
          items[b].byOwner++;
        } else {
          bottom = b + 1;
          return;
        }
      }
    }

    @Actor
    public void thief() {
      int t = top.get();
      int n = (bottom - t + 1) / 2;
      if (n > 0 && top.compareAndSet(t, t + n)) {
        for (int i = t; i < t + n; i++) {
          items[i].byThief++;
        }
      }
    }

    @Arbiter
    public void judge(III_Result r) {
      for (int i = top.get(); i < bottom; i++) {
        items[i].byOwner++;
      }
      QueueStress.Item.judge(items, r);
    }
  }
}
