package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.PreparedTransaction;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.application.ApplicationSystem;
import dev.kakehashi.engine.api.bulk.BulkAccess;
import dev.kakehashi.engine.api.queue.QueueSystem;
import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.DefinedName;
import dev.kakehashi.engine.catalog.LiveTables;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.embedded.activity.ActivityRows;
import dev.kakehashi.engine.embedded.activity.ApplicationTableRows;
import dev.kakehashi.engine.embedded.activity.MemoryRows;
import dev.kakehashi.engine.embedded.activity.QueueRows;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.statistics.StatisticsKeeper;
import dev.kakehashi.engine.statistics.StatisticsRows;
import dev.kakehashi.engine.statistics.StatisticsSource;
import dev.kakehashi.engine.statistics.TableStatistics;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.txn.Deadlocks;
import dev.kakehashi.engine.txn.ManagedTransaction;
import dev.kakehashi.engine.txn.TableLocks;
import dev.kakehashi.scheduler.TaskScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Answers to planners about the running engine. Thread-safe.
final class LiveFacts implements LiveTables, StatisticsSource {
  private final Store store;
  private final Supplier<CatalogSnapshot> catalog;
  private final TaskScheduler scheduler;
  private final StatisticsKeeper statistics;
  private final EngineTransactions transactions;
  private final EngineSurroundings surroundings;
  private final EngineApplications applications;
  private final EngineRoles roles;
  private final SequenceValues sequenceValues;

  LiveFacts(
      Store store,
      Supplier<CatalogSnapshot> catalog,
      TaskScheduler scheduler,
      StatisticsKeeper statistics,
      EngineTransactions transactions,
      EngineSurroundings surroundings,
      EngineApplications applications,
      EngineRoles roles,
      SequenceValues sequenceValues) {
    this.store = store;
    this.catalog = catalog;
    this.scheduler = scheduler;
    this.statistics = statistics;
    this.transactions = transactions;
    this.surroundings = surroundings;
    this.applications = applications;
    this.roles = roles;
    this.sequenceValues = sequenceValues;
  }

  /// Live rows of a table by its number, approximately; system tables have negative ones.
  long rowCount(long tableId) {
    if (tableId < 0) {
      return 0;
    }
    try {
      return store.table(tableId).rowCount();
    } catch (IllegalArgumentException dropped) {
      return 0;
    }
  }

  @Override
  public @Nullable TableStatistics statistics(Table table) {
    return statistics.of(table);
  }

  @Override
  public Permissions permissions(CatalogSnapshot version, Viewer viewer) {
    return new Permissions(version, roles.role(version.roles(), viewer.userName()));
  }

  @Override
  public List<@Nullable Object[]> columnStatistics(List<Table> of, Viewer viewer) {
    Permissions permissions = permissions(catalog.get(), viewer);
    return StatisticsRows.of(
        of,
        this,
        (table, column) ->
            ((permissions.on(ObjectKind.TABLE, table.rights()) | permissions.on(column))
                    & Privilege.SELECT.bit())
                != 0);
  }

  @Override
  public @Nullable ApplicationSystem applications() {
    return applications.system();
  }

  @Override
  public BulkAccess bulkAccess() {
    return surroundings.bulkAccess();
  }

  @Override
  public List<@Nullable Object[]> locations(Viewer viewer) {
    Permissions permissions = permissions(catalog.get(), viewer);
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (BulkAccess.Location each : surroundings.bulkAccess().locations()) {
      String privileges =
          Privilege.of(permissions.onLocation(each.name())).stream()
              .map(Privilege::name)
              .collect(Collectors.joining(", "));
      rows.add(new @Nullable Object[] {each.name(), each.readable(), each.writable(), privileges});
    }
    return rows;
  }

  @Override
  public List<@Nullable Object[]> queues(int tableId, CatalogNames names, Viewer viewer) {
    QueueSystem queues = store.queues();
    return queues == null
        ? List.of()
        : QueueRows.of(
            tableId, queues, names, roles.role(names.catalog().roles(), viewer.userName()));
  }

  @Override
  public List<@Nullable Object[]> applications(int tableId, CatalogNames names, Viewer viewer) {
    return ApplicationTableRows.of(
        tableId,
        names.catalog(),
        applications.system(),
        roles.role(names.catalog().roles(), viewer.userName()));
  }

  @Override
  public List<ShownSetting> settings() {
    return surroundings.shownSettings();
  }

  @Override
  public long applyAsLong(Table table) {
    return rowCount(table.tableId());
  }

  @Override
  public List<@Nullable Object[]> transactions(Viewer viewer) {
    long published = store.usage().published();
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (ManagedTransaction each : transactions.open()) {
      BeginOptions options = each.options();
      boolean seen = viewer.sees(each.owner());
      rows.add(
          new @Nullable Object[] {
            each.id(),
            seen ? options.label() : ActivityRows.HIDDEN,
            options.kind().name(),
            options.isolation().name().replace('_', ' '),
            each.state().name(),
            each.timestamp(),
            each.hasWrites(),
            seen ? each.reference() : null,
            Math.max(0, published - each.heldSnapshot()),
            (long) options.priority(),
            each.epoch() == 0 ? null : each.epoch(),
            each.isWaiting(),
            each.owner().userName(),
            seen ? each.idleSince() : null
          });
    }
    return rows;
  }

  @Override
  public List<@Nullable Object[]> memory() {
    Store.Usage usage = store.usage();
    return List.<@Nullable Object[]>of(
        new @Nullable Object[] {
          usage.limitBytes(),
          usage.reservedBytes(),
          usage.queuedWrites(),
          usage.published() - usage.horizon(),
          usage.usedBytes()
        });
  }

  @Override
  public List<@Nullable Object[]> storage(Viewer viewer) {
    return viewer.sight() == Viewer.Sight.ALL ? ActivityRows.storage(store.diskUse()) : List.of();
  }

  @Override
  public List<@Nullable Object[]> log(Viewer viewer) {
    return viewer.sight() == Viewer.Sight.ALL ? ActivityRows.log(store.logStatus()) : List.of();
  }

  @Override
  public List<@Nullable Object[]> requestTimes(Viewer viewer) {
    return viewer.sight() == Viewer.Sight.ALL
        ? ActivityRows.requestTimes(surroundings.requestTimes())
        : List.of();
  }

  @Override
  public List<@Nullable Object[]> tableMemory(List<Table> of) {
    return MemoryRows.ofTables(of, store);
  }

  @Override
  public List<@Nullable Object[]> columnMemory(List<Table> of) {
    return MemoryRows.ofColumns(of, store);
  }

  @Override
  public List<@Nullable Object[]> waits() {
    List<Deadlocks.Edge> edges = transactions.deadlocks().list();
    return edges.isEmpty()
        ? List.of()
        : ActivityRows.waits(
            edges,
            transactions.open(),
            surroundings.clientSessions(),
            transactions.prepared().list());
  }

  @Override
  public List<@Nullable Object[]> sessions(Viewer viewer) {
    return ActivityRows.sessions(surroundings.clientSessions(), viewer);
  }

  @Override
  public List<@Nullable Object[]> jobs(Viewer viewer) {
    return ActivityRows.jobs(scheduler.jobs(), viewer);
  }

  @Override
  public List<@Nullable Object[]> copies(Viewer viewer) {
    return ActivityRows.copies(scheduler.jobs(), viewer);
  }

  @Override
  public @Nullable Long lastValue(Sequence sequence) {
    return sequenceValues.lastValue(sequence.definition());
  }

  @Override
  public List<@Nullable Object[]> locks() {
    List<@Nullable Object[]> rows = new ArrayList<>();
    CatalogSnapshot names = catalog.get();
    for (TableLocks.Held held : transactions.locks().list()) {
      DefinedName name = held.name() == null ? names.nameOf(held.tableId()) : held.name();
      rows.add(
          new @Nullable Object[] {
            held.transactionId(),
            name == null ? null : orNull(name.schema()),
            name == null ? null : orNull(name.object()),
            held.mode().name(),
            held.granted()
          });
    }
    return rows;
  }

  private static @Nullable String orNull(String text) {
    return text.isEmpty() ? null : text;
  }

  @Override
  public List<@Nullable Object[]> preparedTransactions(Viewer viewer) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (PreparedTransaction each : transactions.prepared().list()) {
      rows.add(
          new @Nullable Object[] {
            each.id(),
            each.globalId(),
            each.preparedMicros(),
            each.owner(),
            each.userName(),
            viewer.sees(new Viewer(each.owner(), each.userName(), "", Viewer.Sight.ROLE))
                ? each.reference()
                : null
          });
    }
    return rows;
  }
}
