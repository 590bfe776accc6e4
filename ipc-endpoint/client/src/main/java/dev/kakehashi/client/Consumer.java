package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Takes tasks of one queue and works on them, several at once, until it is closed.
///
/// One thread takes tasks, in a session whose end gives them all back; each worker has a session for its transactions; one thread extends
/// the leases. Where the endpoint goes, all of them attach anew when it is there again. Waiting costs the one thread's request.
///
/// [#run] and [#start] may be called once. [#close] may come from any thread but a handler's.
public final class Consumer implements AutoCloseable {
  private static final int MOST_AT_ONCE = 1_000;

  private final TaskQueue queue;
  private final ConsumerOptions options;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);

  /// Tasks for the workers; one that finds an empty place ends.
  private final LinkedBlockingQueue<Optional<QueueTask>> ready = new LinkedBlockingQueue<>();

  private final Semaphore room;
  private final QueueLink source;
  private final List<Thread> workers = new ArrayList<>();
  private final AtomicLong completed = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private @Nullable Heartbeat heartbeat;
  private @Nullable Thread taker;

  Consumer(TaskQueue queue, ConsumerOptions options) {
    this.queue = queue;
    this.options = options;
    this.room = new Semaphore(options.concurrency() + options.prefetch());
    this.source = new QueueLink(queue, application("consumer"), stop);
  }

  private String application(String part) {
    return queue.session().options().applicationName() + " " + part + " of " + queue.name();
  }

  /// Works until [#close] or an interrupt.
  ///
  /// @throws EndpointException the endpoint cannot be reached at the beginning
  public void run(TaskHandler handler) throws InterruptedException {
    start(handler);
    try {
      ended.await();
    } catch (InterruptedException e) {
      close();
      throw e;
    }
  }

  /// Begins to work, and returns.
  ///
  /// @throws EndpointException the endpoint cannot be reached
  /// @throws IllegalStateException it was started before
  public synchronized Consumer start(TaskHandler handler) {
    if (heartbeat != null || stop.getCount() == 0) {
      throw new IllegalStateException("the consumer was started or closed before");
    }
    // A consumer that cannot attach at all learns it here.
    source.queue();
    heartbeat = new Heartbeat(queue, application("heartbeat"), stop);
    Heartbeat beats = heartbeat;
    for (int i = 1; i <= options.concurrency(); i++) {
      workers.add(
          Thread.ofPlatform().name("kakehashi-worker-" + i).start(() -> work(handler, beats)));
    }
    taker = Thread.ofPlatform().name("kakehashi-consumer").start(() -> take(beats));
    return this;
  }

  /// Tasks that were completed.
  public long completed() {
    return completed.get();
  }

  /// Attempts that have failed.
  public long failed() {
    return failed.get();
  }

  /// Tasks whose lease ended before their work did.
  public long lost() {
    return lost.get();
  }

  /// How much later than planned a lease was extended at most.
  public Duration worstLateness() {
    Heartbeat beats = heartbeat;
    return Duration.ofNanos(beats == null ? 0 : beats.worstLatenessNanos());
  }

  // ---- taking ----

  private void take(Heartbeat beats) {
    try {
      while (stop.getCount() > 0) {
        room.acquire();
        int free = 1 + room.drainPermits();
        int places = Math.min(free, MOST_AT_ONCE);
        int got = 0;
        try {
          got = takeOnce(places, beats);
        } finally {
          room.release(free - got);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int takeOnce(int places, Heartbeat beats) throws InterruptedException {
    if (stop.getCount() == 0) {
      return 0;
    }
    try {
      List<QueueTask> tasks = source.queue().receive(places, options.longestWait());
      source.succeeded();
      for (QueueTask task : tasks) {
        beats.add(task);
        ready.add(Optional.of(task));
      }
      return tasks.size();
    } catch (EndpointException e) {
      // The endpoint is away, or the queue: both may come back.
      source.pause();
      return 0;
    }
  }

  // ---- working ----

  private void work(TaskHandler handler, Heartbeat beats) {
    try (QueueLink link = new QueueLink(queue, application("worker"), stop)) {
      for (Optional<QueueTask> next = ready.take(); next.isPresent(); next = ready.take()) {
        QueueTask task = next.get();
        try {
          workOn(task, handler, link);
        } finally {
          beats.remove(task);
          room.release();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void workOn(QueueTask task, TaskHandler handler, QueueLink link) {
    if (task.lost()) {
      lost.incrementAndGet();
      return;
    }
    try {
      handle(task, handler, link);
      completed.incrementAndGet();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the drain's time is over: no more tasks
      failed(task, e, link);
    } catch (Throwable e) {
      failed(task, e, link);
    }
  }

  private static void handle(QueueTask task, TaskHandler handler, QueueLink link) throws Exception {
    TaskQueue own = link.queue();
    try (Transaction transaction = own.session().begin()) {
      handler.handle(task, transaction);
      own.complete(transaction, List.of(task));
      transaction.commit();
    }
  }

  private void failed(QueueTask task, Throwable failure, QueueLink link) {
    if (isLost(failure)) {
      task.markLost();
      lost.incrementAndGet();
    } else {
      failed.incrementAndGet();
      try {
        link.queue().fail(task, String.valueOf(failure), null);
      } catch (EndpointException e) {
        // The lease ends by itself then.
        failure.addSuppressed(e);
      }
    }
    options.failed().accept(task, failure);
  }

  private static boolean isLost(Throwable failure) {
    return failure instanceof EndpointException e
        && e.sqlstate().equals(ErrorCode.LEASE_LOST.sqlstate());
  }

  // ---- the end ----

  /// Takes no more tasks, leaves [ConsumerOptions#drain()] to those that are worked on, and gives back all others. Idempotent.
  @Override
  public void close() {
    close(options.drain());
  }

  /// As [#close()], with another time.
  public synchronized void close(Duration drain) {
    stop.countDown();
    source.cancelWait();
    Thread taking = taker;
    if (taking != null) {
      taker = null;
      long deadline = System.nanoTime() + drain.toNanos();
      try {
        room.release();
        taking.join();
        giveBack();
        end(deadline);
      } catch (InterruptedException e) {
        taking.interrupt();
        workers.forEach(Thread::interrupt);
        Thread.currentThread().interrupt();
      }
    }
    if (heartbeat != null) {
      heartbeat.close();
    }
    // Whatever is left of the leases ends with it.
    source.close();
    ended.countDown();
  }

  /// Tasks that nobody works on; their attempts do not count.
  private void giveBack() {
    List<Optional<QueueTask>> left = new ArrayList<>();
    ready.drainTo(left);
    workers.forEach(worker -> ready.add(Optional.empty()));
    for (Optional<QueueTask> task : left) {
      try {
        source.queue().release(task.orElseThrow());
      } catch (EndpointException e) {
        if (!isLost(e)) {
          return; // the endpoint has gone, and with it the leases
        }
      }
    }
  }

  private void end(long deadline) throws InterruptedException {
    for (Thread worker : workers) {
      long left = deadline - System.nanoTime();
      if (left <= 0 || !worker.join(Duration.ofNanos(left))) {
        worker.interrupt();
      }
    }
  }
}
