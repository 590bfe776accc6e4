package dev.kakehashi.queue.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Critical sections, and the actions that they leave for later.
class QueueLockTest {
  private final List<String> seen = new ArrayList<>();
  private @Nullable Runnable left;

  private final QueueLock lock =
      new QueueLock(
          new QueueRun(),
          new QueueLock.Work() {
            @Override
            public void settle() {
              seen.add("settled");
              if (left != null) {
                QueueLockTest.this.lock.later(left);
                left = null;
              }
            }

            @Override
            public @Nullable Runnable nextWrite() {
              throw new IllegalStateException("nothing is written before the start");
            }
          });

  @Test
  void shouldRunActionsAfterTheOutermostSection() {
    lock.enter();
    lock.later(() -> seen.add("action"));
    lock.enter();
    lock.exit();
    assertEquals(List.of(), seen);
    lock.exit();
    assertEquals(List.of("settled", "action"), seen);
  }

  @Test
  void shouldRunActionsThatTheEndOfTheSectionLeaves() {
    left = () -> seen.add("left");
    lock.enter();
    lock.later(() -> seen.add("action"));
    lock.exit();
    assertEquals(List.of("settled", "action", "left"), seen);
  }

  @Test
  void shouldGoOnAfterAnActionThatFails() {
    lock.enter();
    lock.later(() -> {
      throw new IllegalStateException("an action fails, as the test wants it");
    });
    lock.later(() -> seen.add("action"));
    lock.exit();
    assertEquals(List.of("settled", "action"), seen);
  }

  @Test
  void shouldRunActionsWithoutTheLock() {
    lock.enter();
    lock.later(() -> {
      // Another thread can have the lock meanwhile.
      CompletableFuture.runAsync(
              () -> {
                lock.enter();
                lock.exit();
              })
          .orTimeout(60, TimeUnit.SECONDS)
          .join();
      seen.add("free");
    });
    lock.exit();
    assertEquals(List.of("settled", "settled", "free"), seen);
  }

  @Test
  void shouldRunActionsOfASectionWithinAnAction() {
    lock.enter();
    lock.later(() -> {
      lock.enter();
      lock.later(() -> seen.add("second"));
      lock.exit();
      seen.add("first ends");
    });
    lock.exit();
    assertEquals(List.of("settled", "settled", "second", "first ends"), seen);
  }
}
