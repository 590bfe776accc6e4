package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.api.queue.QueueChanges;
import dev.kakehashi.engine.catalog.Catalog;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Footprint;
import dev.kakehashi.engine.catalog.Needs;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Rights;
import dev.kakehashi.engine.rights.Role;
import dev.kakehashi.engine.rights.RoleSet;
import dev.kakehashi.engine.sql.parser.RightsStatement;
import dev.kakehashi.engine.store.api.Store.CatalogChange;
import dev.kakehashi.engine.txn.TableLocks.Mode;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.time.Zone;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// Changes of the catalogue by one statement: the locks that it needs first, then its steps in order. It holds as long as nobody commits
/// changes of what it needs locks for. Confined to one thread at a time.
final class DefinitionPlan {
  private final Catalog catalog;
  private final Map<Long, Mode> locks = new LinkedHashMap<>();
  private final List<Step> steps = new ArrayList<>();
  private final Footprint footprint = new Footprint();
  private final long version;
  private final ConstantDefault rows;
  private final Zone zone;
  private CatalogSnapshot state;
  private Definer definer;
  private @Nullable String filling;

  /// Part of a statement.
  sealed interface Step {
    /// A change of the catalogue, or of the physical side.
    record Change(CatalogChange change) implements Step {}

    /// Rows that are checked or copied.
    record Rows(TablePass pass) implements Step {}

    /// A change of tasks and files of queues.
    ///
    /// @param action gives the number of tasks that it has moved
    record OfQueue(ToLongFunction<QueueChanges> action) implements Step {}
  }

  /// @param state the catalogue as the transaction sees it before
  /// @param zone of the session
  DefinitionPlan(
      Catalog catalog, CatalogSnapshot state, ConstantDefault rows, Definer definer, Zone zone) {
    this.catalog = catalog;
    this.rows = rows;
    this.state = state;
    this.definer = definer;
    this.zone = zone;
    this.version = catalog.nextVersion();
  }

  /// The catalogue after the steps so far.
  CatalogSnapshot state() {
    return state;
  }

  /// User who runs the statement.
  Definer definer() {
    return definer;
  }

  Zone zone() {
    return zone;
  }

  /// After the first role was made: who runs the statement is one, too.
  void become() {
    Role own = state.roles().role(definer.sessionName());
    long id = own == null ? RoleSet.NOBODY : own.id();
    definer =
        new Definer(
            id,
            id,
            definer.sessionName(),
            definer.operator(),
            definer.users(),
            definer.locations());
  }

  /// Permissions of the user who runs the statement, after the steps so far.
  Permissions permissions() {
    return new Permissions(state, definer.role());
  }

  /// The role that is meant.
  ///
  /// @throws EngineException UNDEFINED_OBJECT
  Role role(RightsStatement.RoleName named) {
    RoleSet roles = state.roles();
    RightsStatement.RoleName.Special word = named.word();
    Role role =
        word == null
            ? roles.role(named.name())
            : switch (word) {
              case CURRENT_ROLE -> roles.role(definer.role());
              case SESSION_USER -> roles.role(definer.session());
              case PUBLIC -> null;
            };
    if (role == null) {
      throw noRole(
          word == null || word == RightsStatement.RoleName.Special.PUBLIC
              ? named.name()
              : definer.sessionName());
    }
    return role;
  }

  static EngineException noRole(String name) {
    return new EngineException(ErrorCode.UNDEFINED_OBJECT, "role \"" + name + "\" does not exist");
  }

  /// Whether who runs the statement may name what a query names.
  ///
  /// @throws EngineException INSUFFICIENT_PRIVILEGE, UNDEFINED_TABLE
  void mayName(Needs needs) {
    needs.checkSchemas(state, definer.role());
  }

  /// The rights of an object that the statement makes.
  ///
  /// @throws EngineException UNDEFINED_OBJECT if who runs it is no role, and rights count
  Rights made(ObjectKind kind, String schema) {
    if (!state.roles().isUsed()) {
      return state.access().made(RoleSet.SUPERUSER, kind, schema);
    }
    if (definer.role() == RoleSet.NOBODY) {
      throw noRole(definer.sessionName());
    }
    return state.access().made(definer.role(), kind, schema);
  }

  /// For columns that are added to rows that are there.
  ConstantDefault rows() {
    return rows;
  }

  long newObjectId() {
    return catalog.nextObjectId();
  }

  /// Whether a table, an index, a sequence, a view or a queue has the name.
  boolean isTaken(String schema, String name) {
    return state.table(schema, name) != null
        || state.tableOfIndex(schema, name) != null
        || state.sequence(schema, name) != null
        || state.view(schema, name) != null
        || state.queue(schema, name) != null;
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
    locks.merge(objectId, mode, Mode::stronger);
  }

  void change(CatalogChange change) {
    steps.add(new Step.Change(change));
    CatalogSnapshot next = state.with(List.of(change), version);
    footprint.add(state, change, next);
    state = next;
  }

  /// @throws EngineException UNDEFINED_SCHEMA, or WRONG_OBJECT_TYPE for one of the system's
  void requireSchema(String schema) {
    if (!state.hasSchema(schema)) {
      throw DefinitionPlanner.noSchema(schema);
    }
    DefinitionPlanner.refuseSystem(schema);
  }

  /// Sets the statement that fills a table that is made, at the end.
  void fill(String statement) {
    filling = statement;
  }

  @Nullable String filling() {
    return filling;
  }

  void pass(TablePass pass) {
    steps.add(new Step.Rows(pass));
  }

  /// Does something to a queue itself, and gives the number of tasks that were moved.
  void queue(ToLongFunction<QueueChanges> action) {
    steps.add(new Step.OfQueue(action));
  }

  Map<Long, Mode> locks() {
    return Collections.unmodifiableMap(locks);
  }

  /// Locks that all changes need, besides the locks that the statement asks for itself.
  DefinitionLocks definitionLocks(CatalogSnapshot committed) {
    return DefinitionLocks.of(committed, footprint, state);
  }

  /// Changes of the catalogue in order.
  List<CatalogChange> changes() {
    return steps.stream()
        .filter(Step.Change.class::isInstance)
        .map(step -> ((Step.Change) step).change())
        .toList();
  }

  List<Step> steps() {
    return Collections.unmodifiableList(steps);
  }
}
