package dev.kakehashi.engine.queue;

import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.engine.store.api.Store;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Services of a store alone for its queues.
public record StoreQueueHost(Store store) implements QueueHost {
  @Override
  public void write(QueueChanges changes, Consumer<@Nullable Throwable> done) {
    store.writeQueues(changes, done);
  }

  @Override
  public long wallMillis() {
    return System.currentTimeMillis();
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public Alarm after(long nanos, Runnable action) {
    Executor later = CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS);
    CompletableFuture<Void> alarm = CompletableFuture.runAsync(action, later);
    return () -> alarm.cancel(false);
  }

  @Override
  public void execute(Runnable action) {
    ForkJoinPool.commonPool().execute(action);
  }
}
