package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.DefinedName;
import dev.kakehashi.engine.catalog.Footprint;
import dev.kakehashi.engine.catalog.ForeignKey;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.sql.binder.ViewBinder;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.txn.TableLocks;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Locks that a transaction needs so that its changes of the catalogue hold whatever others commit beside it. They are on changed objects,
/// names that are given and taken, schemas of new objects, and objects that the changed ones refer to. Immutable.
///
/// @param whole whether that is all of the catalogue
public record DefinitionLocks(
    boolean whole, Map<Long, Mode> objects, Map<DefinedName, Mode> names) {
  private static final long NOTHING = -1;

  /// @param committed what others know too: nobody else can come to what is new
  /// @param after the catalogue with the changes
  static DefinitionLocks of(CatalogSnapshot committed, Footprint changes, CatalogSnapshot after) {
    Map<Long, Mode> objects = new LinkedHashMap<>();
    Map<DefinedName, Mode> names = new LinkedHashMap<>();
    changes.schemas().forEach(schema -> names.put(schema, Mode.SHARED));
    changes.names().forEach(name -> names.put(name, Mode.EXCLUSIVE));
    for (long id : changes.objects()) {
      if (committed.hasObject(id)) {
        objects.merge(id, after.hasObject(id) ? Mode.BUILD : Mode.EXCLUSIVE, Mode::stronger);
      }
      for (long source : sources(committed, id, after)) {
        if (committed.hasObject(source)) {
          objects.merge(source, Mode.SHARED, Mode::stronger);
        }
      }
    }
    return new DefinitionLocks(changes.isWhole(), objects, names);
  }

  /// Objects to which an object refers by name now and did not before.
  private static Collection<Long> sources(
      CatalogSnapshot committed, long id, CatalogSnapshot after) {
    View view = after.view(id);
    if (view != null) {
      View before = committed.view(id);
      return before != null && before.text().equals(view.text())
          ? List.of()
          : ViewBinder.sources(view, after);
    }
    Table table = after.table(id);
    if (table == null) {
      return List.of();
    }
    Table before = committed.table(id);
    List<Column> columns =
        table.columns().stream().filter(column -> !hadDefault(before, column)).toList();
    return TableExpressions.sequences(columns, after);
  }

  private static boolean hadDefault(@Nullable Table before, Column column) {
    return before != null
        && before.columns().stream()
            .anyMatch(each ->
                each.name().equals(column.name())
                    && Objects.equals(each.defaultText(), column.defaultText()));
  }

  /// Gives a transaction that an earlier run has prepared the locks that its changes need.
  ///
  /// @param changed tables whose rows it has changed
  /// @param committed the catalogue without them
  public static void restore(
      TableLocks locks,
      TableLocks.Owner owner,
      List<CatalogChange> definitions,
      Collection<Long> changed,
      CatalogSnapshot committed) {
    changed.forEach(table -> locks.give(owner, table, Mode.SHARED));
    if (definitions.isEmpty()) {
      return;
    }
    Footprint footprint = new Footprint();
    CatalogSnapshot after = committed;
    for (CatalogChange change : definitions) {
      CatalogSnapshot next = after.with(List.of(change), after.version());
      footprint.add(after, change, next);
      after = next;
      long alone = used(change);
      if (alone != NOTHING) {
        locks.give(owner, alone, Mode.EXCLUSIVE);
      }
    }
    for (long id : footprint.objects()) {
      Table table = after.table(id);
      if (table != null) {
        for (ForeignKey key : ForeignKeyPlanner.newKeys(committed.table(id), table)) {
          locks.give(owner, key.referencedId(), Mode.EXCLUSIVE);
        }
      }
    }
    DefinitionLocks needed = of(committed, footprint, after);
    locks.give(owner, TableLocks.CATALOGUE, needed.whole() ? Mode.EXCLUSIVE : Mode.SHARED);
    needed.objects().forEach((id, mode) -> locks.give(owner, id, mode));
    needed.names().forEach((name, mode) -> locks.give(owner, name, mode));
  }

  /// The table whose physical side a change is about.
  private static long used(CatalogChange change) {
    return switch (change) {
      case CatalogChange.Put put -> NOTHING;
      case CatalogChange.Remove remove -> NOTHING;
      case CatalogChange.ForgetSequence forget -> NOTHING;
      case CatalogChange.StartSequence start -> NOTHING;
      case CatalogChange.CreateTable create -> create.definition().tableId();
      case CatalogChange.DropTable drop -> drop.tableId();
      case CatalogChange.CreateIndex create -> create.tableId();
      case CatalogChange.DropIndex drop -> drop.tableId();
      case CatalogChange.Reshape reshape -> reshape.definition().tableId();
      case CatalogChange.Redefine redefine -> redefine.definition().tableId();
    };
  }
}
