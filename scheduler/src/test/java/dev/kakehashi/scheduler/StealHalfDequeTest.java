package dev.kakehashi.scheduler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// The deque alone: order, capacity, wrap of the indices, and thieves against the owner.
@Timeout(60)
class StealHalfDequeTest {
  private record Item(int number) implements Task {
    @Override
    public @Nullable Task run(TaskContext context) {
      return null;
    }
  }

  private static final List<Item> ITEMS = new ArrayList<>();

  static {
    for (int i = 0; i < 8; i++) {
      ITEMS.add(new Item(i));
    }
  }

  private static Task[] itemsFrom(int first) {
    return ITEMS.subList(first, ITEMS.size()).toArray(new Task[0]);
  }

  @Test
  void shouldPopBothEndsAndPushBothEndsAcrossTheWrapOfItsIndices() {
    for (int first : new int[] {0, -2, Integer.MAX_VALUE - 1}) {
      StealHalfDeque deque = new StealHalfDeque(4, first);
      assertNull(deque.popNewest());
      for (int round = 0; round < 5; round++) {
        assertTrue(deque.push(ITEMS.get(1), null));
        assertTrue(deque.push(ITEMS.get(2), null));
        assertTrue(deque.pushOldest(ITEMS.get(0), null));
        assertEquals(1, deque.pushAll(itemsFrom(3), null), "one slot is left");
        assertFalse(deque.push(ITEMS.get(4), null));
        assertFalse(deque.pushOldest(ITEMS.get(4), null));
        assertEquals(4, deque.size());
        assertSame(ITEMS.get(0), deque.popOldest());
        assertSame(ITEMS.get(3), deque.popNewest());
        assertSame(ITEMS.get(2), deque.popNewest());
        assertSame(ITEMS.get(1), deque.popOldest());
        assertNull(deque.popOldest());
      }
    }
  }

  @Test
  void shouldStealTheOlderHalfRoundedUp() {
    StealHalfDeque deque = new StealHalfDeque(8, -3);
    deque.pushAll(itemsFrom(3), null);
    @Nullable Object[] batch = new @Nullable Object[8];
    assertEquals(0, deque.stealHalf(batch, 32, 6), "fewer than wanted");
    assertEquals(3, deque.stealHalf(batch, 32, 2));
    assertSame(ITEMS.get(3), batch[0]);
    assertSame(ITEMS.get(5), batch[4]);
    assertEquals(1, deque.stealHalf(batch, 1, 1));
    assertSame(ITEMS.get(6), batch[0]);
    assertSame(ITEMS.get(7), deque.popNewest());
    assertEquals(0, deque.stealHalf(batch, 32, 1));
  }

  @Test
  void shouldLoseAndDuplicateNothingUnderThieves() throws Exception {
    long seed = Long.getLong("scheduler.seed", System.nanoTime());
    System.out.println("StealHalfDequeTest seed=" + seed);
    int pushes = 1_000_000;
    AtomicIntegerArray taken = new AtomicIntegerArray(pushes);
    StealHalfDeque deque = new StealHalfDeque(16, -1000);
    boolean[] over = new boolean[1];
    List<Thread> thieves = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Thread thief =
          new Thread(() -> {
            @Nullable Object[] batch = new @Nullable Object[16];
            while (true) {
              int n = deque.stealHalf(batch, 8, 1);
              for (int j = 0; j < n; j++) {
                take(taken, batch[2 * j]);
              }
              if (n == 0) {
                synchronized (over) {
                  if (over[0]) {
                    return;
                  }
                }
              }
            }
          });
      thief.start();
      thieves.add(thief);
    }
    SplittableRandom random = new SplittableRandom(seed);
    for (int pushed = 0; pushed < pushes; ) {
      for (int burst = random.nextInt(12); burst > 0 && pushed < pushes; burst--) {
        Item item = new Item(pushed++);
        if (!(random.nextInt(8) == 0 ? deque.pushOldest(item, null) : deque.push(item, null))) {
          take(taken, item);
        }
      }
      for (int burst = random.nextInt(12); burst > 0; burst--) {
        Task task = random.nextInt(8) == 0 ? deque.popOldest() : deque.popNewest();
        if (task != null) {
          take(taken, task);
        }
      }
    }
    for (Task task = deque.popNewest(); task != null; task = deque.popNewest()) {
      take(taken, task);
    }
    synchronized (over) {
      over[0] = true;
    }
    for (Thread thief : thieves) {
      thief.join();
    }
    for (int i = 0; i < pushes; i++) {
      assertEquals(1, taken.get(i), "seed=" + seed + " item " + i);
    }
  }

  private static void take(AtomicIntegerArray taken, @Nullable Object item) {
    if (!(item instanceof Item numbered)) {
      throw new AssertionError("took " + item);
    }
    taken.incrementAndGet(numbered.number());
  }
}
