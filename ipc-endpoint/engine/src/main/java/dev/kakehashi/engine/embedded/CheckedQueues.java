package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.api.queue.QueueDefinition;
import dev.kakehashi.engine.api.queue.QueueHost;
import dev.kakehashi.engine.api.queue.QueueState;
import dev.kakehashi.engine.api.queue.QueueState.TaskCounts;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.check.CheckListener;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Verifies the queues of a store that is being checked: by themselves, and with the catalogue.
final class CheckedQueues {
  private CheckedQueues() {}

  /// @param defined what the catalogue has
  /// @return problems
  static List<String> run(Store store, List<QueueDefinition> defined, CheckListener report) {
    List<String> problems = new ArrayList<>();
    QueueSystem queues = store.queues();
    if (queues == null) {
      if (!defined.isEmpty()) {
        report.checked("queues: %d, not looked at".formatted(defined.size()));
      }
      return problems;
    }
    queues.start(new StillHost(), defined);
    queues.check(problem -> problems.add("queues: " + problem));
    Set<Long> found = new HashSet<>();
    long tasks = 0;
    for (QueueState state : queues.states()) {
      found.add(state.queueId());
      TaskCounts counts = state.tasks();
      tasks += counts.ready() + counts.delayed() + counts.leased() + counts.dead();
      if (counts.sum() != counts.enqueued()) {
        problems.add(
            "queue %d, group %d: %d tasks were enqueued, and %d are accounted for"
                .formatted(state.queueId(), state.groupId(), counts.enqueued(), counts.sum()));
      }
    }
    Set<Long> known = new HashSet<>();
    for (QueueDefinition queue : defined) {
      known.add(queue.queueId());
      if (!found.contains(queue.queueId())) {
        problems.add("queue \"%s\".\"%s\" has no files".formatted(queue.schema(), queue.name()));
      }
    }
    found.removeAll(known);
    found.forEach(id -> problems.add("queue %d is not in the catalogue".formatted(id)));
    report.checked("queues: %d, %d tasks".formatted(defined.size(), tasks));
    return problems;
  }

  /// A process in which nothing happens.
  private static final class StillHost implements QueueHost {
    @Override
    public void write(QueueChanges changes, Consumer<@Nullable Throwable> done) {
      changes.ended(false);
      done.accept(
          new EngineException(
              ErrorCode.READ_ONLY_TRANSACTION, "queues that are being checked are not changed"));
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
      return () -> {};
    }

    @Override
    public void execute(Runnable action) {
      action.run();
    }
  }
}
