package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.application.DirectTable;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Permissions;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.rights.ObjectKind;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.type.text.Quoting;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// A table or view in a call. A row is found by its primary key in the index itself; everything else is a statement whose plan is kept by
/// the engine.
final class CallTable implements DirectTable {
  private static final Object[] NOTHING = {};

  /// Besides the bits of privileges: the columns of the key may be read.
  private static final int KEY_READ = 1 << 30;

  private final CallAccess access;
  private final String name;
  private final String quoted;
  private final long tableId;
  private final List<Column> columns;
  private final List<String> key;
  private TableShape shape;
  private List<Column> selected;

  /// Lookup by key of the selected columns; null: not made yet.
  private @Nullable KeyLookup lookup;

  /// Privileges by the version of the catalogue that the shape is of; -1: not looked at.
  private int may = -1;

  private @Nullable Call insert;
  private @Nullable Call update;
  private @Nullable Call delete;

  /// Changes without statements; null: not looked at, or there are none.
  private @Nullable PlainWrites plain;

  private boolean plainKnown;

  /// @throws EngineException UNDEFINED_TABLE, UNDEFINED_SCHEMA, INSUFFICIENT_PRIVILEGE
  CallTable(CallAccess access, String name) {
    this.access = access;
    this.name = name;
    shape = access.shape(name);
    tableId = shape.form().tableId();
    quoted = shape.quoted();
    columns = shape.columns();
    key = shape.key();
    selected = columns;
  }

  /// Takes over a newer version of the catalogue, with the table locked.
  ///
  /// @throws EngineException UNDEFINED_TABLE, FEATURE_NOT_SUPPORTED if it is another one now, or has other columns
  private void lock() {
    access.lock(tableId);
    if (shape.version() == access.transaction().catalog().version()) {
      return;
    }
    TableShape now = access.shape(name);
    if (now.form().tableId() != tableId || !now.columns().equals(columns)) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "relation " + quoted + " has changed within the call");
    }
    shape = now;
    may = -1;
    plain = null;
    plainKnown = false;
  }

  @Override
  public List<Column> columns() {
    return columns;
  }

  @Override
  public List<String> key() {
    return key;
  }

  @Override
  public void select(List<String> names) {
    List<Column> next = new ArrayList<>();
    names.forEach(name -> next.add(column(name)));
    selected = List.copyOf(next);
    lookup = null;
    may = -1;
    insert = null;
    update = null;
    plain = null;
    plainKnown = false;
  }

  private Column column(String name) {
    for (Column column : columns) {
      if (column.name().equals(name)) {
        return column;
      }
    }
    throw new EngineException(
        ErrorCode.UNDEFINED_COLUMN,
        "column \"%s\" of relation %s does not exist".formatted(name, quoted));
  }

  private void requireKey() {
    if (key.isEmpty()) {
      throw new EngineException(
          ErrorCode.INVALID_TABLE_DEFINITION, "relation " + quoted + " has no primary key");
    }
  }

  private void requireKey(Object[] values) {
    requireKey();
    if (values.length != key.size()) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          "the primary key of %s has %d columns, not %d"
              .formatted(quoted, key.size(), values.length));
    }
  }

  // ---- reading ----

  @Override
  public @Nullable Object @Nullable [] find(Object[] values, boolean lock) {
    requireKey(values);
    if (lock) {
      List<String> names = key;
      String sql =
          "SELECT %s FROM %s WHERE %s FOR UPDATE".formatted(list(), quoted, equal(names, 0));
      try (Rows rows = query(sql, names, values)) {
        return rows.next();
      }
    }
    if (access.isLong()) {
      String sql = "SELECT %s FROM %s WHERE %s".formatted(list(), quoted, equal(key, 0));
      try (Rows rows = query(sql, key, values)) {
        return rows.next();
      }
    }
    lock();
    require(Privilege.SELECT, true);
    KeyLookup present = lookup;
    if (present == null || !present.fits(shape.form())) {
      present = new KeyLookup(access, shape.form(), names(selected));
      lookup = present;
    }
    return present.find(values);
  }

  /// Whether the user may do something with the selected columns, and read those of the key.
  private boolean may(Privilege privilege, boolean readsKey) {
    int known = may;
    if (known < 0) {
      known = privileges();
      may = known;
    }
    return (known & privilege.bit()) != 0 && (!readsKey || (known & KEY_READ) != 0);
  }

  private void require(Privilege privilege, boolean readsKey) {
    if (!may(privilege, readsKey)) {
      throw Permissions.denied("table", shape.form().name());
    }
  }

  private int privileges() {
    Table table = shape.form();
    CatalogSnapshot catalog = access.transaction().catalog();
    Permissions permissions = new Permissions(catalog, access.roleId());
    int whole = permissions.on(ObjectKind.TABLE, table.rights());
    if (permissions.isSuperuser()) {
      return whole | KEY_READ;
    }
    int ofColumns = -1;
    for (Column each : selected) {
      ofColumns &= permissions.on(table.columns().get(table.columnIndex(each.name())));
    }
    int ofKey = -1;
    for (String each : key) {
      ofKey &= permissions.on(table.columns().get(table.columnIndex(each)));
    }
    boolean keyRead = ((whole | ofKey) & Privilege.SELECT.bit()) != 0;
    return whole | (ofColumns & ObjectKind.COLUMN.all()) | (keyRead ? KEY_READ : 0);
  }

  @Override
  public Rows all() {
    return query("SELECT %s FROM %s".formatted(list(), quoted), List.of(), NOTHING);
  }

  @Override
  public Rows range(@Nullable String index, Object[] from, Object[] to) {
    CatalogSnapshot catalog = access.transaction().catalog();
    Table table = shape.isView() ? null : catalog.table(tableId);
    if (table == null) {
      throw new EngineException(
          ErrorCode.WRONG_OBJECT_TYPE, "relation " + quoted + " has no indexes");
    }
    Index found = index == null ? table.primaryKey() : index(table, index);
    if (found == null) {
      throw index == null
          ? new EngineException(
              ErrorCode.INVALID_TABLE_DEFINITION, "relation " + quoted + " has no primary key")
          : new EngineException(
              ErrorCode.UNDEFINED_OBJECT,
              "index \"%s\" of relation %s does not exist".formatted(index, quoted));
    }
    List<String> names = new ArrayList<>();
    List<String> order = new ArrayList<>();
    for (int i = 0; i < found.columns().size(); i++) {
      dev.kakehashi.engine.catalog.Column column = table.columns().get(found.columns().get(i));
      if (column.hidden()) {
        throw new EngineException(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            "index \"%s\" has an expression: use a query".formatted(found.name()));
      }
      names.add(column.name());
      order.add(
          Quoting.identifier(column.name())
              + (found.descending().get(i) ? " DESC" : "")
              + (found.nullsFirst().get(i) ? " NULLS FIRST" : " NULLS LAST"));
    }
    if (from.length > names.size() || to.length > names.size()) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          "index \"%s\" has %d columns".formatted(found.name(), names.size()));
    }
    List<String> conditions = new ArrayList<>();
    List<String> parameters = new ArrayList<>();
    List<Object> values = new ArrayList<>();
    int equal = 0;
    while (equal < Math.min(from.length, to.length) && from[equal].equals(to[equal])) {
      parameters.add(names.get(equal));
      values.add(from[equal]);
      conditions.add(Quoting.identifier(names.get(equal)) + " = $" + parameters.size());
      equal++;
    }
    boolean same = equal == from.length && equal == to.length;
    if (!same) {
      bound(found, names, from, equal, true, conditions, parameters, values);
      bound(found, names, to, equal, false, conditions, parameters, values);
    }
    String where = conditions.isEmpty() ? "" : " WHERE " + String.join(" AND ", conditions);
    return query(
        "SELECT %s FROM %s%s ORDER BY %s"
            .formatted(list(), quoted, where, String.join(", ", order)),
        parameters,
        values.toArray());
  }

  private static @Nullable Index index(Table table, String name) {
    for (Index each : table.indexes()) {
      if (each.name().equals(name)) {
        return each;
      }
    }
    return null;
  }

  /// Rows from, or up to, a key in the order of the index: by the first column, or by the second among those that are equal in the first,
  /// and so on.
  private static void bound(
      Index index,
      List<String> names,
      Object[] key,
      int equal,
      boolean lower,
      List<String> conditions,
      List<String> parameters,
      List<Object> values) {
    if (equal >= key.length) {
      return;
    }
    int first = parameters.size() + 1 - equal;
    for (int i = equal; i < key.length; i++) {
      parameters.add(names.get(i));
      values.add(key[i]);
    }
    StringBuilder text = new StringBuilder();
    for (int i = equal; i < key.length; i++) {
      boolean greater = lower != index.descending().get(i);
      String column = Quoting.identifier(names.get(i));
      String parameter = "$" + (first + i);
      boolean last = i == key.length - 1;
      text.append(column).append(greater ? " >" : " <").append(last ? "= " : " ").append(parameter);
      if (!last) {
        text.append(" OR (").append(column).append(" = ").append(parameter).append(" AND (");
      }
    }
    text.append("))".repeat(key.length - 1 - equal));
    if (key.length - 1 > equal) {
      // For the index: what the rest of the condition implies.
      boolean greater = lower != index.descending().get(equal);
      conditions.add(
          Quoting.identifier(names.get(equal)) + (greater ? " >= $" : " <= $") + (first + equal));
    }
    conditions.add("(" + text + ")");
  }

  private Rows query(String sql, List<String> parameters, @Nullable Object[] values) {
    List<Column> shown = selected;
    EmbeddedStatement statement = access.prepare(sql, oids(parameters));
    RowPipe pipe = new RowPipe();
    access.start(statement, new ObjectParameters(oids(parameters), values), pipe);
    return new PipedRows(access, pipe, CallAccess.oids(shown));
  }

  // ---- writing ----

  /// Changes without statements; null: the table needs them.
  private @Nullable PlainWrites plain() {
    lock();
    if (!plainKnown) {
      plain = PlainWrites.of(access, shape, selected);
      plainKnown = true;
    }
    return plain;
  }

  /// Columns have no such privilege.
  private boolean mayDelete() {
    return may(Privilege.DELETE, true);
  }

  /// A statement of the table, and where its parameters come from.
  ///
  /// @param places in the values that are given
  private record Call(EmbeddedStatement statement, int[] oids, int[] places) {}

  private Call call(String sql, List<String> parameters, List<Column> given) {
    int[] places =
        parameters.stream()
            .mapToInt(name ->
                IntStream.range(0, given.size())
                    .filter(i -> given.get(i).name().equals(name))
                    .findFirst()
                    .orElseThrow())
            .toArray();
    int[] oids = oids(parameters);
    return new Call(access.prepare(sql, oids), oids, places);
  }

  private long run(Call call, @Nullable Object[] values) {
    @Nullable Object[] parameters = new @Nullable Object[call.places.length];
    for (int i = 0; i < parameters.length; i++) {
      parameters[i] = values[call.places[i]];
    }
    RowPipe pipe = new RowPipe();
    access.start(call.statement, new ObjectParameters(call.oids, parameters), pipe);
    return access.await(pipe);
  }

  @Override
  public void insert(@Nullable Object[] values) {
    requireWidth(values);
    PlainWrites simple = plain();
    if (simple != null
        && simple.insertsAll()
        && may(Privilege.INSERT, false)
        && simple.insert(values)) {
      return;
    }
    Call call = insert;
    if (call == null) {
      List<String> names = names(selected.stream().filter(each -> !each.generated()).toList());
      String sql =
          names.isEmpty()
              ? "INSERT INTO " + quoted + " DEFAULT VALUES"
              : "INSERT INTO %s (%s) VALUES (%s)"
                  .formatted(
                      quoted,
                      list(names),
                      IntStream.rangeClosed(1, names.size())
                          .mapToObj(i -> "$" + i)
                          .collect(Collectors.joining(", ")));
      call = call(sql, names, selected);
      insert = call;
    }
    long ignored = run(call, values);
  }

  @Override
  public boolean update(@Nullable Object[] values) {
    requireKey();
    requireWidth(values);
    if (update == null && !names(selected).containsAll(key)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_COLUMN,
          "the row has not all columns of the primary key of %s: %s"
              .formatted(quoted, String.join(", ", key)));
    }
    PlainWrites simple = plain();
    if (simple != null && may(Privilege.UPDATE, true)) {
      Boolean updated = simple.update(values);
      if (updated != null) {
        return updated;
      }
    }
    Call call = update;
    if (call == null) {
      List<String> set =
          names(
              selected.stream()
                  .filter(each -> !each.generated() && !key.contains(each.name()))
                  .toList());
      if (set.isEmpty()) {
        // Nothing changes but that the row is locked, as by an UPDATE of nothing.
        set = List.of(key.getFirst());
      }
      List<String> parameters = new ArrayList<>(set);
      parameters.addAll(key);
      String assignments = String.join(", ", assigned(set));
      call =
          call(
              "UPDATE %s SET %s WHERE %s".formatted(quoted, assignments, equal(key, set.size())),
              parameters,
              selected);
      update = call;
    }
    return run(call, values) > 0;
  }

  private static List<String> assigned(List<String> names) {
    return IntStream.range(0, names.size())
        .mapToObj(i -> Quoting.identifier(names.get(i)) + " = $" + (i + 1))
        .toList();
  }

  @Override
  public boolean delete(Object[] values) {
    requireKey(values);
    PlainWrites simple = plain();
    if (simple != null && mayDelete()) {
      Boolean deleted = simple.delete(values);
      if (deleted != null) {
        return deleted;
      }
    }
    Call call = delete;
    if (call == null) {
      List<Column> given = key.stream().map(this::column).toList();
      call = call("DELETE FROM %s WHERE %s".formatted(quoted, equal(key, 0)), key, given);
      delete = call;
    }
    return run(call, values) > 0;
  }

  private void requireWidth(@Nullable Object[] values) {
    if (values.length != selected.size()) {
      throw new EngineException(
          ErrorCode.INVALID_PARAMETER_VALUE,
          "%d values were given for %d columns".formatted(values.length, selected.size()));
    }
  }

  // ---- text ----

  private static List<String> names(List<Column> of) {
    return of.stream().map(Column::name).toList();
  }

  private String list() {
    return list(names(selected));
  }

  private static String list(List<String> names) {
    return names.stream().map(Quoting::identifier).collect(Collectors.joining(", "));
  }

  private static String equal(List<String> names, int before) {
    return IntStream.range(0, names.size())
        .mapToObj(i -> Quoting.identifier(names.get(i)) + " = $" + (before + i + 1))
        .collect(Collectors.joining(" AND "));
  }

  private int[] oids(List<String> names) {
    return names.stream().mapToInt(name -> column(name).typeOid()).toArray();
  }
}
