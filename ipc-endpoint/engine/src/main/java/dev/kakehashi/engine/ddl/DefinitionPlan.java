package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.catalog.Catalog;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What one statement does to the catalogue: the locks that it needs first, then its steps in order. Made under the lock of the catalogue; confined to
/// one thread at a time.
final class DefinitionPlan {
  private final Catalog catalog;
  private final Map<Long, Mode> locks = new LinkedHashMap<>();
  private final List<Step> steps = new ArrayList<>();
  private final long version;
  private final ConstantDefault rows;
  private CatalogSnapshot state;
  private @Nullable String filling;

  /// Part of a statement.
  sealed interface Step {
    /// A change of the catalogue, or of the physical side.
    record Change(CatalogChange change) implements Step {}

    /// Rows that are checked or copied.
    record Rows(TablePass pass) implements Step {}
  }

  /// @param state the catalogue as the transaction sees it before
  DefinitionPlan(Catalog catalog, CatalogSnapshot state, ConstantDefault rows) {
    this.catalog = catalog;
    this.rows = rows;
    this.state = state;
    this.version = catalog.nextVersion();
  }

  /// The catalogue after the steps so far.
  CatalogSnapshot state() {
    return state;
  }

  /// For columns that are added to rows that are there.
  ConstantDefault rows() {
    return rows;
  }

  long newObjectId() {
    return catalog.nextObjectId();
  }

  /// Whether a table, an index, a sequence or a view has the name.
  boolean isTaken(String schema, String name) {
    return state.table(schema, name) != null
        || state.tableOfIndex(schema, name) != null
        || state.sequence(schema, name) != null
        || state.view(schema, name) != null;
  }

  /// @throws EngineException DUPLICATE_TABLE
  void refuseTaken(String schema, String name) {
    if (isTaken(schema, name)) {
      throw new EngineException(
          ErrorCode.DUPLICATE_TABLE, "relation \"" + name + "\" already exists");
    }
  }

  void lock(Table table, Mode mode) {
    lock(table.tableId(), mode);
  }

  void lock(long objectId, Mode mode) {
    locks.merge(objectId, mode, (a, b) -> a.compareTo(b) >= 0 ? a : b);
  }

  void change(CatalogChange change) {
    steps.add(new Step.Change(change));
    state = state.with(List.of(change), version);
  }

  /// @throws EngineException UNDEFINED_SCHEMA, or WRONG_OBJECT_TYPE for one of the system's
  void requireSchema(String schema) {
    if (!state.hasSchema(schema)) {
      throw DefinitionPlanner.noSchema(schema);
    }
    DefinitionPlanner.refuseSystem(schema);
  }

  /// What fills a table that is made, at the end.
  void fill(String statement) {
    filling = statement;
  }

  @Nullable String filling() {
    return filling;
  }

  void pass(TablePass pass) {
    steps.add(new Step.Rows(pass));
  }

  Map<Long, Mode> locks() {
    return Collections.unmodifiableMap(locks);
  }

  List<Step> steps() {
    return Collections.unmodifiableList(steps);
  }
}
