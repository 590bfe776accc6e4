package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.LeaseToken;
import dev.kakehashi.engine.api.queue.LeasedTask;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.api.queue.ReceiveRequest;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.txn.StatementWork;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Tasks that a statement waits for before it begins. Tasks that have come for a statement that does not succeed are given back, as if they
/// had never been handed out.
///
/// Thread-safe; its state is guarded by this, and no other object is called with it held.
final class Receiving implements StatementWork.Arrival, QueueSystem.Listener {
  /// Tasks, and bytes of their payloads, up to which a statement takes some ten microseconds.
  private static final int SHORT_TASKS = 16;

  private static final long SHORT_BYTES = 64 << 10;

  private final Store store;
  private final Supplier<ReceiveRequest> request;
  private @Nullable Runnable wake;
  private QueueSystem.@Nullable Waiting waiting;
  private @Nullable List<LeasedTask> tasks;
  private @Nullable EngineException failure;
  private boolean givenBack;

  /// @param request evaluated when the wait begins
  Receiving(Store store, Supplier<ReceiveRequest> request) {
    this.store = store;
    this.request = request;
  }

  @Override
  public void begin(Runnable whenNews) {
    ReceiveRequest wanted = request.get();
    synchronized (this) {
      wake = whenNews;
    }
    QueueSystem.Waiting call = QueueCalls.system(store).receive(wanted, this);
    boolean canceled;
    synchronized (this) {
      waiting = call;
      canceled = givenBack;
    }
    if (canceled) {
      call.cancel();
    }
  }

  @Override
  public synchronized boolean hasCome() {
    EngineException refused = failure;
    if (refused != null) {
      throw refused;
    }
    return tasks != null;
  }

  @Override
  public synchronized boolean isShort() {
    List<LeasedTask> come = tasks;
    if (come == null || come.size() > SHORT_TASKS) {
      return come == null;
    }
    long bytes = 0;
    for (LeasedTask task : come) {
      bytes += task.payload().bytes().length;
    }
    return bytes <= SHORT_BYTES;
  }

  /// Tasks that have come.
  synchronized List<LeasedTask> tasks() {
    List<LeasedTask> come = tasks;
    if (come == null) {
      throw new IllegalStateException("nothing has come yet");
    }
    return come;
  }

  @Override
  public void received(List<LeasedTask> come) {
    Runnable news;
    boolean unwanted;
    synchronized (this) {
      tasks = come;
      unwanted = givenBack;
      news = wake;
    }
    if (unwanted) {
      giveBack(come, QueueChanges::release);
    } else if (news != null) {
      news.run();
    }
  }

  @Override
  public void failed(EngineException reason) {
    Runnable news;
    synchronized (this) {
      failure = reason;
      news = wake;
    }
    if (news != null) {
      news.run();
    }
  }

  @Override
  public void giveBack() {
    QueueSystem.Waiting call;
    List<LeasedTask> come;
    synchronized (this) {
      if (givenBack) {
        return;
      }
      givenBack = true;
      call = waiting;
      come = tasks;
    }
    if (call != null && come == null) {
      call.cancel();
    }
    if (come != null) {
      giveBack(come, QueueChanges::release);
    }
  }

  /// The attempts count: a task that makes its transactions fail is dead at last.
  @Override
  public void rolledBack() {
    giveBack(
        tasks(),
        (changes, token) ->
            changes.fail(token, "the transaction that had received it was rolled back", -1));
  }

  private void giveBack(List<LeasedTask> come, BiConsumer<QueueChanges, LeaseToken> end) {
    QueueCalls.giveBack(store, come.stream().map(LeasedTask::token).toList(), end);
  }
}
