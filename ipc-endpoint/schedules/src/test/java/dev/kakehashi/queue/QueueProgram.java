package dev.kakehashi.queue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseHolder;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.NewTask;
import dev.kakehashi.engine.api.queue.Payload;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.engine.api.queue.QueueOptions;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.engine.store.ProgramStore;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.schedules.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A producer and two consumers of one queue over a store.
///
/// One of them sleeps over the end of its first lease, and of what the other has at that moment, until its task is lent again.
///
/// A task is lent to one consumer at a time: each attempt is handed out once. Each task is completed by exactly one of the transactions
/// that try to, and not by one whose lease is over. The queue's own check finds nothing.
public final class QueueProgram implements Program {
  private static final long QUEUE = 7;
  private static final int TASKS = 2;
  private static final long LEASE_MILLIS = 1000;

  /// Longer than the clock goes on.
  private static final long LONG_WAIT_NANOS = 1_000_000_000_000L;

  @Override
  public void run() throws Exception {
    Path directory = Files.createTempDirectory("queues");
    DurableQueues queues = DurableQueues.open(directory);
    try (ProgramStore store = new ProgramStore(queues)) {
      Host host = new Host(store);
      queues.start(host, List.of());
      queues.define(
          List.of(
              new QueueDefinition(
                  QUEUE, "public", "q", options(), List.of(), Map.of(), List.of())));
      commit(store, changes -> changes.createQueue(QUEUE));
      Run run = new Run(queues, store);
      Program.together(
          host::work,
          () -> {
            Program.together(
                () -> {
                  for (int task = 0; task < TASKS; task++) {
                    commit(
                        store,
                        changes ->
                            changes.enqueue(QUEUE, NewTask.of(new Payload(false, new byte[] {1}))));
                  }
                },
                () -> run.consume(() -> host.advance(LEASE_MILLIS + 1)),
                () -> run.consume(null));
            host.stop();
          });
      check(run.completed.size() == TASKS, "completed: " + run.completed);
      List<String> problems = new ArrayList<>();
      queues.check(problems::add);
      check(problems.isEmpty(), problems.toString());
      queues.close();
    }
    delete(directory);
  }

  private static QueueOptions options() {
    return new QueueOptions(
        LEASE_MILLIS,
        new QueueOptions.Retry(25, 0, 0, 0, 0, 0, 0),
        new QueueOptions.StartLimits(-1, 100, 0),
        new QueueOptions.StartLimits(-1, 1, 0),
        false,
        60_000,
        false,
        new QueueOptions.Push(null, 10_000));
  }

  private static void commit(ProgramStore store, Consumer<QueueChanges> work)
      throws InterruptedException {
    StoreTransaction transaction = store.begin();
    try {
      work.accept(transaction.queueChanges());
      ProgramStore.commit(transaction, true);
    } finally {
      transaction.abort();
    }
  }

  private static void delete(Path directory) throws IOException {
    try (var files = Files.walk(directory)) {
      for (Path each : files.toList().reversed()) {
        Files.delete(each);
      }
    }
  }

  /// The work of the consumers.
  private static final class Run {
    private final DurableQueues queues;
    private final ProgramStore store;
    private final Set<String> lent = new HashSet<>(); // guarded by this
    final Set<Long> completed = new HashSet<>(); // guarded by this
    private final List<QueueSystem.Waiting> calls = new ArrayList<>(); // guarded by this
    private final AtomicInteger left = new AtomicInteger(TASKS);

    Run(DurableQueues queues, ProgramStore store) {
      this.queues = queues;
      this.store = store;
    }

    /// @param sleeps called with the first task, before the lease ends; null: it does not sleep
    void consume(@Nullable Runnable sleeps) throws InterruptedException {
      Runnable sleep = sleeps;
      while (left.get() > 0) {
        for (LeasedTask task : receive()) {
          boolean over = false;
          synchronized (this) {
            check(
                lent.add(task.taskId() + " " + task.token().attempt()),
                "lent twice: " + task.taskId());
            notifyAll();
          }
          if (sleep != null) {
            sleep.run();
            sleep = null;
            over = true;
            synchronized (this) {
              while (!lent.contains(task.taskId() + " " + (task.token().attempt() + 1))) {
                wait();
              }
            }
          }
          try {
            commit(store, changes -> changes.complete(task.token()));
          } catch (EngineException | IllegalStateException ended) {
            continue; // the lease was over: somebody else gets the task
          }
          check(!over, "completed by a lease that was over: " + task.taskId());
          synchronized (this) {
            check(completed.add(task.taskId()), "completed twice: " + task.taskId());
          }
          if (left.decrementAndGet() == 0) {
            stop();
          }
        }
      }
    }

    private List<LeasedTask> receive() throws InterruptedException {
      BlockingQueue<List<LeasedTask>> answer = new ArrayBlockingQueue<>(1);
      QueueSystem.Waiting call =
          queues.receive(
              new ReceiveRequest(
                  QUEUE, 0, 1, 1 << 20, LONG_WAIT_NANOS, 0, LeaseHolder.TIME, List.of()),
              new QueueSystem.Listener() {
                @Override
                public void received(List<LeasedTask> tasks) {
                  check(answer.offer(tasks), "two answers");
                }

                @Override
                public void failed(EngineException reason) {
                  throw reason;
                }
              });
      synchronized (this) {
        calls.add(call);
      }
      if (left.get() == 0) {
        stop();
      }
      return answer.take();
    }

    /// No more tasks come: who waits for one gets an empty answer.
    private void stop() {
      List<QueueSystem.Waiting> all;
      synchronized (this) {
        all = List.copyOf(calls);
      }
      all.forEach(QueueSystem.Waiting::cancel);
    }
  }

  /// The process: a clock that goes on when it is told to, and a thread for work.
  private static final class Host implements QueueHost {
    private record Ring(long at, Runnable action) {}

    private final ProgramStore store;
    private final AtomicLong nanos = new AtomicLong(5_000_000_000L);
    private final BlockingQueue<Optional<Runnable>> todo = new LinkedBlockingQueue<>();
    private final List<Ring> rings = new ArrayList<>(); // guarded by this

    Host(ProgramStore store) {
      this.store = store;
    }

    void work() throws InterruptedException {
      for (Optional<Runnable> next = todo.take(); next.isPresent(); next = todo.take()) {
        next.get().run();
      }
    }

    void stop() {
      todo.add(Optional.empty());
    }

    void advance(long millis) {
      long now = nanos.addAndGet(millis * 1_000_000);
      List<Ring> due = new ArrayList<>();
      synchronized (this) {
        rings.removeIf(ring -> ring.at <= now && due.add(ring));
      }
      due.forEach(ring -> ring.action.run());
    }

    @Override
    public long wallMillis() {
      return 1_700_000_000_000L + nanos.get() / 1_000_000;
    }

    @Override
    public long nanoTime() {
      return nanos.get();
    }

    @Override
    public synchronized Alarm after(long wait, Runnable action) {
      Ring ring = new Ring(nanos.get() + wait, action);
      rings.add(ring);
      return () -> {
        synchronized (this) {
          rings.remove(ring);
        }
      };
    }

    @Override
    public void execute(Runnable action) {
      todo.add(Optional.of(action));
    }

    @Override
    public void write(QueueChanges changes, Consumer<@Nullable Throwable> done) {
      store.store.writeQueues(changes, done);
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
