package dev.kakehashi.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/// A heap of which the test says what lives in it, and what is garbage.
class HeapLevelTest {
  private static final long COLLECTION_NANOS = 300_000_000L;
  private static final long SECOND_NANOS = 1_000_000_000L;

  private final NumberedHeap heap = new NumberedHeap();
  private final HeapLevel level = new HeapLevel(heap, () -> heap.nowNanos);

  /// A hundred bytes.
  private static final class NumberedHeap implements HeapLevel.Heap {
    long live;
    long garbage;
    long nowNanos = -SECOND_NANOS;
    int collections;

    @Override
    public long usedBytes() {
      return live + garbage;
    }

    @Override
    public long maxBytes() {
      return 100;
    }

    @Override
    public void collect() {
      garbage = 0;
      nowNanos += COLLECTION_NANOS;
      collections++;
    }
  }

  @Test
  void shouldNeverRefuseForGarbage() {
    heap.live = 20;
    // Loads that fill the heap again at once, looked at every tenth of a second.
    for (int i = 0; i < 1000; i++) {
      heap.garbage = 75;
      assertFalse(level.isTight(0), "round " + i);
      heap.nowNanos += SECOND_NANOS / 10;
    }
    assertTrue(heap.collections <= 1000 / 50 + 1, heap.collections + " collections");
  }

  @Test
  void shouldNotCollectWhileThereIsRoom() {
    heap.live = 40;
    heap.garbage = 30;
    assertFalse(level.isTight(0));
    assertEquals(0, heap.collections);
  }

  @Test
  void shouldRefuseWhatLivesAndTakeATenthOfTheTime() {
    heap.live = 80;
    long begin = heap.nowNanos;
    for (int i = 0; i < 1000; i++) {
      assertTrue(level.isTight(0));
      heap.nowNanos += SECOND_NANOS / 100;
    }
    long tookNanos = heap.nowNanos - begin;
    assertTrue(heap.collections * COLLECTION_NANOS <= tookNanos / 10 + COLLECTION_NANOS);
    heap.live = 20;
    heap.garbage = 75;
    heap.nowNanos += 10 * COLLECTION_NANOS;
    assertFalse(level.isTight(0));
  }

  @Test
  void shouldCountResultsThatWereOpenedSinceTheCollection() {
    heap.live = 20;
    heap.garbage = 75;
    assertFalse(level.isTight(10));
    heap.garbage = 75;
    assertFalse(level.isTight(55));
    assertTrue(level.isTight(70));
    // Before it is refused for long, it is found out whether they hold so much.
    heap.nowNanos += 10 * COLLECTION_NANOS;
    assertFalse(level.isTight(70));
    assertEquals(2, heap.collections);
  }

  @Test
  void shouldFindTheHeapOfTheProcess() {
    assertFalse(HeapLevel.ofProcess().isTight(0));
  }
}
