package dev.kakehashi.engine.embedded.activity;

import dev.kakehashi.engine.api.ClientSession;
import dev.kakehashi.engine.api.LogStatus;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.exec.operator.CopyActivity;
import dev.kakehashi.engine.exec.operator.ScanActivity;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.txn.Deadlocks;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.protocol.RequestTimes;
import dev.kakehashi.scheduler.Job;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Rows of `kakehashi_catalog.sessions`, `waits`, `jobs` and `copies`: what goes on at the moment, as far as the viewer may see it. As in
/// `pg_stat_activity` there is a row of everything, and who may not see more sees who it is; of waits everybody sees all.
public final class ActivityRows {
  private static final int LOG_COLUMNS = 14;

  /// In place of a text that the viewer may not see; as PostgreSQL's.
  public static final String HIDDEN = "<insufficient privilege>";

  private static final double NANOS_PER_MILLI = 1e6;
  private static final long EPOCH_MILLIS = 946_684_800_000L;

  private static final int SESSION_COLUMNS = 18;
  private static final int STATEMENT = 9;
  private static final int JOB_COLUMNS = 14;
  private static final int COPY_COLUMNS = 8;

  private ActivityRows() {}

  public static List<@Nullable Object[]> sessions(List<ClientSession> sessions, Viewer viewer) {
    List<@Nullable Object[]> rows = new ArrayList<>(sessions.size());
    for (ClientSession session : sessions) {
      if (!viewer.sees(session.owner())) {
        rows.add(hidden(session));
        continue;
      }
      ClientSession.Client client = session.client();
      ClientSession.Work work = session.work();
      ClientSession.Traffic traffic = session.traffic();
      rows.add(
          new @Nullable Object[] {
            session.id(),
            client.kind(),
            client.applicationName(),
            client.processId(),
            client.osUser(),
            session.userName(),
            session.attachedMicros(),
            switch (work.state()) {
              case ACTIVE -> "active";
              case PLANNING -> "planning";
              case IDLE_IN_TRANSACTION -> "idle in transaction";
              case IDLE -> "idle";
            },
            work.transaction() == 0 ? null : work.transaction(),
            work.statement(),
            work.statementMicros(),
            (long) work.running(),
            traffic.requests(),
            traffic.rows(),
            traffic.batches(),
            traffic.bytes(),
            traffic.waits(),
            traffic.bufferBytes(),
            traffic.directReads()
          });
    }
    return rows;
  }

  /// @param transactions those that have not ended
  public static List<@Nullable Object[]> waits(
      List<Deadlocks.Edge> edges,
      Collection<ManagedTransaction> transactions,
      List<ClientSession> sessions,
      List<PreparedTransaction> prepared) {
    // A transaction that several sessions use has no process of its own: any of them may end it.
    Map<Long, List<ClientSession>> users = new HashMap<>();
    for (ClientSession session : sessions) {
      long transaction = session.work().transaction();
      if (transaction != 0) {
        users.computeIfAbsent(transaction, _ -> new ArrayList<>(1)).add(session);
      }
    }
    Map<Long, ClientSession> owners = new HashMap<>();
    for (ManagedTransaction transaction : transactions) {
      List<ClientSession> using = users.getOrDefault(transaction.reference(), List.of());
      if (using.size() == 1) {
        owners.put(transaction.id(), using.getFirst());
      }
    }
    Map<Long, String> names = new HashMap<>();
    for (PreparedTransaction each : prepared) {
      names.put(each.id(), each.globalId());
    }
    List<@Nullable Object[]> rows = new ArrayList<>(edges.size());
    for (Deadlocks.Edge edge : edges) {
      ClientSession waiter = owners.get(edge.waiter());
      ClientSession owner = owners.get(edge.owner());
      rows.add(
          new @Nullable Object[] {
            edge.waiter(),
            waiter == null ? null : waiter.client().processId(),
            waiter == null ? null : waiter.client().pidNamespace(),
            edge.owner(),
            owner == null ? null : owner.client().processId(),
            owner == null ? null : owner.client().pidNamespace(),
            names.get(edge.owner()),
            edge.number()
          });
    }
    return rows;
  }

  private static @Nullable Long micros(long millis) {
    return millis == 0 ? null : (Long) ((millis - EPOCH_MILLIS) * 1_000);
  }

  public static List<@Nullable Object[]> storage(Store.DiskUse use) {
    return List.<@Nullable Object[]>of(
        new @Nullable Object[] {
          use.groups(),
          use.commits(),
          use.flushNanos() / 1_000,
          use.logBytes(),
          use.logSegments(),
          use.unappliedBytes(),
          use.checkpoints(),
          micros(use.lastCheckpointMillis()),
          use.backups(),
          micros(use.lastBackupMillis()),
          use.diskBytes() == 0 ? null : (Long) use.diskBytes(),
          use.diskBytes() == 0 ? null : (Long) use.diskFreeBytes()
        });
  }

  /// @param log null: it has no positions
  public static List<@Nullable Object[]> log(@Nullable LogStatus log) {
    if (log == null) {
      return List.of();
    }
    LogStatus.Archive archive = log.archive();
    LogStatus.Following following = log.following();
    @Nullable Object[] row = new @Nullable Object[LOG_COLUMNS];
    row[0] = log.position().toString();
    if (archive != null) {
      row[1] = archive.location();
      row[2] = archive.position() == null ? null : archive.position().toString();
      row[3] = micros(archive.archivedMillis());
      row[4] = archive.waitingBytes();
      row[5] = archive.files();
      row[6] = archive.failures();
      row[7] = archive.gaps();
      row[8] = archive.problem().isEmpty() ? null : archive.problem();
    }
    if (following != null) {
      row[9] = following.primary();
      row[10] = following.applied().toString();
      row[11] = following.lagBytes();
      row[12] = following.lagMicros();
      row[13] = following.problem().isEmpty() ? null : following.problem();
    }
    return List.<@Nullable Object[]>of(row);
  }

  /// @param counts by the steps of [RequestTimes]
  public static List<@Nullable Object[]> requestTimes(long[] counts) {
    List<@Nullable Object[]> rows = new ArrayList<>(counts.length);
    for (int i = 0; i < counts.length; i++) {
      rows.add(new @Nullable Object[] {RequestTimes.upperMicros(i), counts[i]});
    }
    return rows;
  }

  private static @Nullable Object[] hidden(ClientSession session) {
    @Nullable Object[] row = new @Nullable Object[SESSION_COLUMNS];
    row[0] = session.id();
    row[1] = session.client().kind();
    row[2] = session.client().applicationName();
    row[3] = session.client().processId();
    row[4] = session.client().osUser();
    row[5] = session.userName();
    row[STATEMENT] = HIDDEN;
    return row;
  }

  public static List<@Nullable Object[]> jobs(List<Job> jobs, Viewer viewer) {
    List<@Nullable Object[]> rows = new ArrayList<>(jobs.size());
    for (Job job : jobs) {
      if (!viewer.sees(owner(job))) {
        @Nullable Object[] row = new @Nullable Object[JOB_COLUMNS];
        row[0] = job.id();
        row[1] = HIDDEN;
        row[3] = job.state().name();
        rows.add(row);
        continue;
      }
      Job.Progress progress = job.progress();
      Job.@Nullable Times times = job.times();
      StatementExecution statement =
          job.attachment() instanceof StatementExecution execution ? execution : null;
      ManagedTransaction transaction = statement == null ? null : statement.owner();
      ScanActivity scans = statement == null ? null : statement.scans();
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
            transaction == null || transaction.reference() == 0 ? null : transaction.reference(),
            scans == null ? null : scans.pages(),
            scans == null ? null : scans.pagesRead()
          });
    }
    return rows;
  }

  /// Statements that copy rows from or to files.
  public static List<@Nullable Object[]> copies(List<Job> jobs, Viewer viewer) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Job job : jobs) {
      if (!(job.attachment() instanceof StatementExecution statement)) {
        continue;
      }
      CopyActivity copy = statement.copy();
      if (copy == null) {
        continue;
      }
      if (!viewer.sees(statement.viewer())) {
        @Nullable Object[] row = new @Nullable Object[COPY_COLUMNS];
        row[0] = job.id();
        row[1] = HIDDEN;
        rows.add(row);
        continue;
      }
      rows.add(
          new @Nullable Object[] {
            job.id(),
            job.name(),
            copy.isLoad() ? "COPY FROM" : "COPY TO",
            copy.bytes(),
            copy.totalBytes(),
            copy.rows(),
            copy.filtered(),
            copy.rejected()
          });
    }
    return rows;
  }

  /// For whom a job runs: a statement, or the planning of one.
  private static Viewer owner(Job job) {
    return switch (job.attachment()) {
      case StatementExecution statement -> statement.viewer();
      case Viewer asker -> asker;
      case null, default -> Viewer.NOBODY;
    };
  }
}
