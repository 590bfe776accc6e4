package dev.kakehashi.engine;

import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.txn.EngineTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.scheduler.Job;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of `kakehashi_catalog.sessions` and `jobs`: what goes on at the moment.
final class ActivityRows {
  private static final double NANOS_PER_MILLI = 1e6;

  private ActivityRows() {}

  static List<@Nullable Object[]> sessions(List<ClientSession> sessions) {
    List<@Nullable Object[]> rows = new ArrayList<>(sessions.size());
    for (ClientSession session : sessions) {
      ClientSession.Traffic traffic = session.traffic();
      rows.add(
          new @Nullable Object[] {
            session.id(),
            session.clientKind(),
            session.applicationName(),
            session.processId(),
            session.osUser(),
            session.userName(),
            session.attachedMicros(),
            switch (session.state()) {
              case ACTIVE -> "active";
              case IDLE_IN_TRANSACTION -> "idle in transaction";
              case IDLE -> "idle";
            },
            session.transaction() == 0 ? null : session.transaction(),
            session.statement(),
            session.statementMicros(),
            (long) session.running(),
            traffic.requests(),
            traffic.rows(),
            traffic.batches(),
            traffic.bytes(),
            traffic.waits(),
            traffic.bufferBytes()
          });
    }
    return rows;
  }

  static List<@Nullable Object[]> jobs(List<Job> jobs) {
    List<@Nullable Object[]> rows = new ArrayList<>(jobs.size());
    for (Job job : jobs) {
      Job.Progress progress = job.progress();
      Job.@Nullable Times times = job.times();
      EngineTransaction transaction =
          job.attachment() instanceof StatementExecution statement ? statement.owner() : null;
      rows.add(
          new @Nullable Object[] {
            job.id(),
            job.name(),
            transaction == null ? null : transaction.options().label(),
            job.state().name(),
            progress.fraction(),
            progress.spawned(),
            progress.finished(),
            times == null ? null : times.queuedNanos() / NANOS_PER_MILLI,
            times == null ? null : times.runNanos() / NANOS_PER_MILLI,
            times == null ? null : times.wallNanos() / NANOS_PER_MILLI,
            transaction == null ? null : transaction.id(),
            transaction == null || transaction.reference() == 0 ? null : transaction.reference()
          });
    }
    return rows;
  }
}
