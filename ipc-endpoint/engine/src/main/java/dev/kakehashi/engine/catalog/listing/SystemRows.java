package dev.kakehashi.engine.catalog.listing;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.catalog.CatalogNames;
import dev.kakehashi.engine.catalog.LiveTables;
import dev.kakehashi.engine.catalog.ObjectTables;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.SystemTables;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.type.SequenceDefinition;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// Rows of system tables, made when they are read.
public final class SystemRows {
  private SystemRows() {}

  /// Rows of a system table; values are String, Long (any integer), Double, Boolean, Duration (an interval) or null.
  ///
  /// @param names narrows what the rows are about; there may be rows about others
  /// @param rowCount live rows of a table that the store has; as [LiveTables] it has the rows about the running engine, too
  /// @param viewer who sees them
  public static List<@Nullable Object[]> of(
      Table table, CatalogNames names, ToLongFunction<Table> rowCount, Viewer viewer) {
    if (SystemTables.isLive(table)) {
      return rowCount instanceof LiveTables live
          ? LiveRows.of(table, names, live, viewer)
          : List.of();
    }
    int id = (int) table.tableId();
    return switch (id) {
      case ObjectTables.TABLE_NAMES -> tables(names, rowCount);
      case ObjectTables.SEQUENCES -> sequences(names, rowCount);
      case ObjectTables.VIEWS -> views(names);
      case ObjectTables.COMMENTS -> CommentRows.of(names);
      case ObjectTables.KEYS -> KeyRows.keys(names);
      case ObjectTables.DEFINITIONS -> DefinitionRows.of(names.catalog(), false);
      case ObjectTables.ROLES -> RightsRows.roles(names.catalog());
      case ObjectTables.ROLE_MEMBERS -> RightsRows.members(names.catalog());
      case ObjectTables.PRIVILEGES -> RightsRows.privileges(names);
      case ObjectTables.COLUMNS,
          ObjectTables.INDEXES,
          ObjectTables.CHECK_CONSTRAINTS,
          ObjectTables.FOREIGN_KEYS ->
          partsOfTables(id, names);
      default ->
          InformationRows.of(
              id,
              names,
              new InformationSight(
                  rowCount instanceof LiveTables live
                      ? live.permissions(names.catalog(), viewer)
                      : null));
    };
  }

  private static List<@Nullable Object[]> tables(
      CatalogNames names, ToLongFunction<Table> rowCount) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (View view : names.views()) {
      rows.add(new Object[] {view.schema(), view.name(), null});
    }
    for (Table each : ownTables(names)) {
      rows.add(new Object[] {each.schema(), each.name(), rowCount.applyAsLong(each)});
    }
    return rows;
  }

  /// Without system tables.
  private static List<Table> ownTables(CatalogNames names) {
    return names.tables().stream().filter(table -> !table.isSystem()).toList();
  }

  private static List<@Nullable Object[]> partsOfTables(int tableId, CatalogNames names) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    if (tableId == ObjectTables.COLUMNS) {
      names.views().forEach(view -> TableRows.addColumns(rows, view.form()));
    }
    for (Table each : ownTables(names)) {
      switch (tableId) {
        case ObjectTables.COLUMNS -> TableRows.addColumns(rows, each);
        case ObjectTables.INDEXES -> TableRows.addIndexes(rows, each);
        case ObjectTables.FOREIGN_KEYS -> TableRows.addForeignKeys(rows, each, names.catalog());
        default ->
            each.checks()
                .forEach(check ->
                    rows.add(
                        new Object[] {each.schema(), each.name(), check.name(), check.text()}));
      }
    }
    return rows;
  }

  private static List<@Nullable Object[]> views(CatalogNames names) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    names.views().forEach(view -> rows.add(new Object[] {view.schema(), view.name(), view.text()}));
    return rows;
  }

  private static List<@Nullable Object[]> sequences(
      CatalogNames names, ToLongFunction<Table> rowCount) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    names.sequences().forEach(sequence -> rows.add(row(sequence, rowCount)));
    return rows;
  }

  private static @Nullable Object[] row(Sequence sequence, ToLongFunction<Table> facts) {
    SequenceDefinition numbers = sequence.definition();
    return new @Nullable Object[] {
      sequence.schema(),
      sequence.name(),
      (long) sequence.typeOid(),
      numbers.start(),
      numbers.min(),
      numbers.max(),
      numbers.increment(),
      numbers.cycles(),
      facts instanceof LiveTables live ? live.lastValue(sequence) : null
    };
  }
}
