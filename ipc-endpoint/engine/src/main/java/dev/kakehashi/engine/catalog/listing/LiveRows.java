package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.catalog.ActivityTables;
import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.LiveTables;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.QueueTables;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.capability.Computation;
import dev.kakehashi.protocol.capability.StoredType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rows of the system tables about the running engine.
final class LiveRows {
  private LiveRows() {}

  static List<@Nullable Object[]> of(
      Table table, CatalogNames catalog, LiveTables live, Viewer viewer) {
    return switch ((int) table.tableId()) {
      case ActivityTables.COLUMN_STATISTICS -> live.columnStatistics(catalog.tables(), viewer);
      case ActivityTables.PREPARED_TRANSACTIONS -> live.preparedTransactions(viewer);
      case ActivityTables.TRANSACTIONS -> live.transactions(viewer);
      case ActivityTables.LOCKS -> live.locks();
      case ActivityTables.SESSIONS -> live.sessions(viewer);
      case ActivityTables.WAITS -> live.waits();
      case ActivityTables.JOBS -> live.jobs(viewer);
      case ActivityTables.COPIES -> live.copies(viewer);
      case ActivityTables.TABLE_MEMORY -> live.tableMemory(catalog.tables());
      case ActivityTables.COLUMN_MEMORY -> live.columnMemory(catalog.tables());
      case ActivityTables.STORAGE -> live.storage(viewer);
      case ActivityTables.LOG -> live.log(viewer);
      case ActivityTables.REQUEST_TIMES -> live.requestTimes(viewer);
      case ActivityTables.LOCATIONS -> live.locations(viewer);
      case ActivityTables.SETTINGS ->
          settings(live.settings(), live.permissions(catalog.catalog(), viewer));
      case ActivityTables.CAPABILITIES -> capabilities(Capabilities.EMBEDDED);
      case ActivityTables.MEMORY -> live.memory();
      case QueueTables.QUEUES, QueueTables.QUEUE_GROUPS, QueueTables.TASKS, QueueTables.LEASES ->
          live.queues((int) table.tableId(), catalog, viewer);
      default -> live.applications((int) table.tableId(), catalog, viewer);
    };
  }

  /// Without those that tell of the machine, but for superusers and members of `pg_read_all_settings`.
  private static List<@Nullable Object[]> settings(
      List<ShownSetting> settings, Permissions permissions) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    boolean all = permissions.has(RoleSet.READ_ALL_SETTINGS);
    for (ShownSetting each : settings) {
      if (each.confidential() && !all) {
        continue;
      }
      rows.add(
          new @Nullable Object[] {
            each.name(),
            each.value(),
            each.defaultValue(),
            each.source(),
            each.changeable(),
            each.pending() != null,
            each.pending()
          });
    }
    return rows;
  }

  private static List<@Nullable Object[]> capabilities(Capabilities engine) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    String name = engine.engine();
    for (Capability each : Capability.values()) {
      rows.add(new Object[] {name, "capability", each.name(), engine.has(each)});
    }
    for (Computation each : Computation.values()) {
      rows.add(new Object[] {name, "computation", each.name(), engine.computes(each)});
    }
    for (StoredType each : StoredType.values()) {
      rows.add(new Object[] {name, "type", each.name(), engine.keeps(each)});
    }
    return rows;
  }
}
