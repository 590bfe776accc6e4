package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.LockedRows;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.algebra.SortOrder;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.sql.typing.BoundQuery.Expectation;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalAggregate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWindow;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Binds SELECT ... FROM ... WHERE ... GROUP BY ... HAVING with its ORDER BY and LIMIT.
public final class SelectBinder {
  private final BindContext context;
  private final QueryBinder queries;

  /// Subqueries whose rows a query around them locks.
  private final IdentityHashMap<SqlSelect, RowLocks.Lock> locked = new IdentityHashMap<>();

  SelectBinder(BindContext context, QueryBinder queries) {
    this.context = context;
    this.queries = queries;
  }

  /// The SELECT, when it is bound next, locks as FOR UPDATE of a query around it says.
  void lock(SqlNode query, RowLocks.Lock lock) {
    switch (query.getKind()) {
      case SELECT -> locked.put((SqlSelect) query, lock);
      case ORDER_BY -> lock(((SqlOrderBy) query).query, lock);
      case WITH -> lock(((SqlWith) query).body, lock);
      case UNION, INTERSECT, EXCEPT ->
          throw RowLocks.notAllowed(lock.strength(), "UNION/INTERSECT/EXCEPT");
      default -> {}
    }
  }

  /// Output column under construction.
  public record Item(String name, RexNode expression) {}

  /// The expressions of a SELECT over the rows of FROM that WHERE leaves.
  ///
  /// @param items of the select list
  /// @param output the same, then what only ORDER BY or DISTINCT ON has
  /// @param keys of ORDER BY, as columns of the output
  /// @param distinctOn columns of the output
  private record Expressions(
      List<SelectBinder.Item> items,
      List<RexNode> output,
      @Nullable RexNode having,
      List<SortOrder> keys,
      List<Integer> distinctOn) {
    List<String> names() {
      return items.stream().map(SelectBinder.Item::name).toList();
    }
  }

  /// Result of a stage of a SELECT.
  ///
  /// @param output over the columns of `rel`
  /// @param expanded whether functions of the output that return rows have made them
  private record Rows(RelNode rel, List<RexNode> output, boolean expanded) {}

  /// A SELECT by its stages: FROM and WHERE, groups, window functions, functions that return rows, and what is done with the output.
  BoundQuery bind(
      SqlSelect select, @Nullable Scope parent, Expectation expectation, QueryBinder.Tail tail) {
    if (select.getQualify() != null) {
      throw queries.expressions.unsupported(select, "QUALIFY");
    }
    Scope scope = scope(select, parent);
    RelNode input = where(select.getWhere(), scope, queries.from.bind(select.getFrom(), scope));
    scope.begin("SELECT");
    Aggregation aggregation = new Aggregation();
    Windowing windowing = windowing(select);
    RowCalls rowCalls = new RowCalls(context);
    Scope.Clause list = new Scope.Clause("SELECT", aggregation, windowing, rowCalls);
    Expressions bound = expressions(select, scope, list, expectation, tail);
    Rows rows = new Rows(input, bound.output, false);
    if (select.getGroup() != null || bound.having != null || !aggregation.calls.isEmpty()) {
      rows = grouped(select, scope, list, bound, rows);
    }
    if (!windowing.calls.isEmpty()) {
      rows = windowed(scope, windowing, rowCalls, rows);
    }
    if (!rowCalls.isEmpty() && !rows.expanded) {
      rows = expanded(scope, rowCalls, rows);
    }
    BoundQuery query = finish(select, bound, rows, tail, scope);
    return hasColumns(select) ? query : new BoundQuery(query.rel(), List.of());
  }

  /// The scope of a SELECT with the locks that it takes.
  private Scope scope(SqlSelect select, @Nullable Scope parent) {
    Scope scope = new Scope(parent);
    RowLocks.Lock around = locked.remove(select);
    scope.locks = RowLocks.of(select, around);
    if (around != null
        && (select.isDistinct() || FirstRows.marker(select, Marks.DISTINCT_ON_CALL) != null)) {
      throw RowLocks.notAllowed(around.strength(), "DISTINCT clause");
    }
    return scope;
  }

  private static boolean hasColumns(SqlSelect select) {
    return FirstRows.marker(select, Marks.NO_COLUMNS_CALL) == null;
  }

  /// @param list the clause of the select list and ORDER BY
  private Expressions expressions(
      SqlSelect select,
      Scope scope,
      Scope.Clause list,
      Expectation expectation,
      QueryBinder.Tail tail) {
    List<Item> items = scope.within(list, () -> items(select.getSelectList(), scope, expectation));
    PathColumns.passOn(scope, items);
    if (!hasColumns(select)) {
      // Algebra's rows have columns.
      items.add(new Item("", context.rex.makeLiteral(true)));
    }
    SqlNode having = select.getHaving();
    RexNode condition =
        having == null
            ? null
            : scope.within(
                new Scope.Clause("HAVING", list.aggregation(), null, null),
                () -> queries.expressions.bindCondition(having, scope, "argument of HAVING"));
    List<String> names = items.stream().map(Item::name).toList();
    List<RexNode> output = new ArrayList<>(items.stream().map(Item::expression).toList());
    List<SortOrder> keys =
        scope.within(list, () -> orderKeys(tail, names, output, scope, select.isDistinct()));
    List<Integer> distinctOn = scope.within(list, () -> distinctOn(select, names, output, scope));
    return new Expressions(items, output, condition, keys, distinctOn);
  }

  /// One row for each group. Functions that return rows make them before, if a key of a group is made of them.
  private Rows grouped(
      SqlSelect select, Scope scope, Scope.Clause list, Expressions bound, Rows input) {
    refuseLocks(scope, "GROUP BY clause or aggregate functions");
    Aggregation aggregation = Objects.requireNonNull(list.aggregation());
    Windowing windowing = Objects.requireNonNull(list.windowing());
    RowCalls rowCalls = Objects.requireNonNull(list.rowCalls());
    GroupByBinder.GroupBy groups =
        scope.within(
            new Scope.Clause("GROUP BY", null, null, rowCalls),
            () -> new GroupByBinder(queries, scope, bound.items).bind(select.getGroup()));
    Rows rows = input;
    if (groups.hasRowCalls()) {
      rows = expanded(scope, rowCalls, input);
      RelNode made = rows.rel;
      UnaryOperator<RexNode> placed = node -> rowCalls.placed(node, made);
      groups = groups.changed(placed);
      windowing.rewrite(placed);
    }
    Grouping grouping = new Grouping(context, scope, groups.keys(), groups.sets(), aggregation);
    if (!scope.correlations().isEmpty()) {
      grouping.redirectCorrelations();
    }
    grouping.complete(rows.output, select);
    windowing.calls.forEach(call -> grouping.complete(call.expressions(), select));
    if (!rows.expanded) {
      grouping.complete(rowCalls.expressions(), select);
    }
    RexNode having = bound.having;
    if (having != null) {
      grouping.complete(List.of(having), select);
    }
    RelNode rel = grouping.aggregate(rows.rel);
    if (having != null) {
      rel =
          LogicalFilter.create(
              rel,
              grouping.rewrite(having),
              com.google.common.collect.ImmutableSet.copyOf(scope.correlations()));
    }
    windowing.rewrite(grouping::rewrite);
    if (!rows.expanded) {
      rowCalls.rewrite(grouping::rewrite);
    }
    return new Rows(rel, changed(rows.output, grouping::rewrite), rows.expanded);
  }

  private Rows windowed(Scope scope, Windowing windowing, RowCalls rowCalls, Rows input) {
    refuseLocks(scope, "window functions");
    int[] places = new int[windowing.calls.size()];
    RelNode rel = windowing.apply(input.rel, scope.correlations(), context, queries, places);
    UnaryOperator<RexNode> resolve =
        node ->
            PgOperators.Place.replace(
                node,
                PgOperators.WindowPlace.class,
                number -> context.rex.makeInputRef(rel, places[number]));
    rowCalls.rewrite(resolve);
    return new Rows(rel, changed(input.output, resolve), input.expanded);
  }

  /// The rows that functions of the output make of each row.
  private Rows expanded(Scope scope, RowCalls rowCalls, Rows input) {
    refuseLocks(scope, "set-returning functions in the target list");
    RelNode rel = rowCalls.apply(input.rel, scope.correlations(), queries);
    return new Rows(rel, changed(input.output, node -> rowCalls.placed(node, rel)), true);
  }

  private static void refuseLocks(Scope scope, String what) {
    if (scope.locks != null) {
      throw scope.locks.notAllowed(what);
    }
  }

  private static List<RexNode> changed(List<RexNode> output, UnaryOperator<RexNode> change) {
    return output.stream().map(change).toList();
  }

  private Windowing windowing(SqlSelect select) {
    Windowing windowing = new Windowing();
    if (select.getWindowList() != null) {
      for (SqlNode node : select.getWindowList()) {
        SqlWindow window = (SqlWindow) node;
        String name = Objects.requireNonNull(window.getDeclName()).getSimple();
        if (windowing.named.put(name, window) != null) {
          throw context.error(
              ErrorCode.WINDOWING_ERROR, "window \"" + name + "\" is already defined", window);
        }
      }
    }
    return windowing;
  }

  private BoundQuery finish(
      SqlSelect select, Expressions bound, Rows rows, QueryBinder.Tail tail, Scope scope) {
    RelNode input = rows.rel;
    List<String> names = bound.names();
    List<SortOrder> keys = bound.keys;
    List<Integer> distinctOn = bound.distinctOn;
    List<RexNode> output = new ArrayList<>(rows.output);
    List<LockedRows.Lock> locks = locks(scope, input, output);
    List<String> allNames = new ArrayList<>(names);
    for (int i = names.size(); i < output.size(); i++) {
      allNames.add("sort" + i);
    }
    RelNode rel = queries.project(input, output, allNames, scope.correlations());
    if (select.isDistinct()) {
      rel =
          LogicalAggregate.create(
              rel,
              List.of(),
              ImmutableBitSet.range(rel.getRowType().getFieldCount()),
              null,
              List.of());
    }
    RexNode offset = queries.limit(tail.offset(), "OFFSET", scope.parent);
    RexNode fetch = queries.limit(tail.fetch(), "LIMIT", scope.parent);
    RowLocks locked = scope.locks;
    if (!distinctOn.isEmpty()) {
      rel = new FirstRows(queries).distinctOn(rel, distinctOn, keys);
    }
    if (queries.hasTies(tail.fetch())) {
      rel = new FirstRows(queries).withTies(rel, keys, offset, fetch, select);
      offset = null;
      fetch = null;
    }
    if (locked == null) {
      rel = new FirstRows(queries).limited(rel, keys, offset, fetch);
    } else {
      // Rows that are skipped do not count.
      boolean limitAbove = locked.skips();
      if (limitAbove && (FirstRows.isQuery(offset) || FirstRows.isQuery(fetch))) {
        throw locked.notAllowed("SKIP LOCKED and a subquery in LIMIT or OFFSET");
      }
      rel =
          new FirstRows(queries)
              .limited(rel, keys, limitAbove ? null : offset, limitAbove ? null : fetch);
      rel = new LockedRows(rel, locks, locked.inherited());
      if (limitAbove) {
        rel = SortOrder.apply(rel, List.of(), offset, fetch);
      }
      context.locksRows = true;
    }
    if (output.size() > names.size()) {
      List<RexNode> visible = new ArrayList<>();
      for (int i = 0; i < names.size(); i++) {
        visible.add(context.rex.makeInputRef(rel, i));
      }
      rel = queries.project(rel, visible, names, Set.of());
    }
    return new BoundQuery(rel, names);
  }

  /// Columns of DISTINCT ON; expressions that are none yet are added to `output`.
  private List<Integer> distinctOn(
      SqlSelect select, List<String> names, List<RexNode> output, Scope scope) {
    SqlCall call = FirstRows.marker(select, Marks.DISTINCT_ON_CALL);
    List<Integer> columns = new ArrayList<>();
    if (call == null) {
      return columns;
    }
    for (SqlNode node : call.getOperandList()) {
      int column = queries.outputColumn(node, names, output);
      if (column < 0) {
        RexNode bound = queries.expressions.bindTyped(node, scope);
        column = output.indexOf(bound);
        if (column < 0) {
          column = output.size();
          output.add(bound);
        }
      }
      columns.add(column);
    }
    return columns;
  }

  /// Adds the row identifiers of the tables to lock to `output`.
  private List<LockedRows.Lock> locks(Scope scope, RelNode input, List<RexNode> output) {
    List<LockedRows.Lock> locks = new ArrayList<>();
    RowLocks wanted = scope.locks;
    if (wanted == null) {
      return locks;
    }
    for (Scope.BaseTable table : scope.baseTables) {
      RowLocks.Lock lock = table.lock();
      if (lock != null) {
        locks.add(
            new LockedRows.Lock(table.table(), output.size(), lock.strength(), lock.policy()));
        int column = table.firstField() + table.table().columns().size();
        output.add(context.rex.makeInputRef(input, column));
      }
    }
    for (RowLocks.Clause clause : wanted.clauses()) {
      for (String alias : clause.tables()) {
        if (!scope.hasAlias(alias)) {
          throw new EngineException(
              ErrorCode.UNDEFINED_TABLE,
              "relation \"%s\" in %s clause not found in FROM clause"
                  .formatted(alias, clause.strength().clause()));
        }
      }
    }
    return locks;
  }

  /// Filters by WHERE: conjuncts with subqueries get a filter of their own.
  RelNode where(@Nullable SqlNode condition, Scope scope, RelNode input) {
    if (condition == null) {
      return input;
    }
    scope.begin("WHERE");
    RexNode bound = queries.expressions.bindCondition(condition, scope, "argument of WHERE");
    // (a AND b) OR (a AND c) becomes a AND (b OR c): `a` may be the key of a join.
    bound = RexUtil.pullFactors(context.rex, bound);
    return LogicalFilter.create(
        input, bound, com.google.common.collect.ImmutableSet.copyOf(scope.correlations()));
  }

  /// The columns that a select list names.
  public List<Item> items(SqlNodeList list, Scope scope) {
    return items(list, scope, Expectation.NONE);
  }

  private List<Item> items(SqlNodeList list, Scope scope, Expectation expectation) {
    List<Item> items = new ArrayList<>();
    for (SqlNode node : list) {
      if (FirstRows.isMarker(node)) {
        continue;
      }
      if (node instanceof SqlIdentifier identifier && identifier.isStar()) {
        star(identifier, scope, items);
        continue;
      }
      SqlNode expression = node;
      String name = null;
      if (node.getKind() == SqlKind.AS) {
        expression = ((SqlCall) node).operand(0);
        name = ((SqlIdentifier) ((SqlCall) node).operand(1)).getSimple();
      }
      RexNode bound = queries.expressions.bind(expression, scope);
      bound = resolve(bound, items.size(), expectation);
      items.add(new Item(name == null ? OutputNames.of(expression) : name, bound));
    }
    return items;
  }

  private RexNode resolve(RexNode node, int column, Expectation expectation) {
    if (PgType.oidOf(node) != Types.UNKNOWN) {
      return node;
    }
    List<SqlType> types = expectation.types();
    if (types != null && column < types.size() && types.get(column).oid() != Types.UNKNOWN) {
      RexNode converted =
          queries.expressions.coercion.convert(
              node, SqlType.of(types.get(column).oid()), CastContext.IMPLICIT);
      return converted == null ? node : converted;
    }
    boolean keep = expectation.keepUnknown();
    return keep ? node : queries.expressions.coercion.resolveUnknown(node);
  }

  private void star(SqlIdentifier identifier, Scope scope, List<Item> items) {
    String alias =
        identifier.names.size() > 1 ? identifier.names.get(identifier.names.size() - 2) : null;
    int before = items.size();
    for (Scope.Field field : scope.fields) {
      boolean chosen = alias == null ? !field.merged() : alias.equals(field.alias());
      if (chosen && !field.hidden() && !field.system() && !Marks.DUAL.equals(field.alias())) {
        field.markRead();
        items.add(new Item(field.name(), field.expression()));
      }
    }
    if (items.size() > before) {
      return;
    }
    if (alias == null) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR, "SELECT * with no tables specified is not valid", identifier);
    }
    RecordBinder.Row outer = queries.expressions.names.row(identifier, scope);
    for (int i = 0; i < outer.names().size(); i++) {
      items.add(new Item(outer.names().get(i), outer.entries().get(i)));
    }
  }

  /// Adds expressions that only ORDER BY has to `output`.
  private List<SortOrder> orderKeys(
      QueryBinder.Tail tail,
      List<String> names,
      List<RexNode> output,
      Scope scope,
      boolean distinct) {
    List<SortOrder> keys = new ArrayList<>();
    for (SqlNode node : tail.order()) {
      SortOrder.Item item = SortOrder.item(node);
      int column = queries.outputColumn(item.expression(), names, output);
      if (column < 0) {
        RexNode bound = queries.expressions.bindTyped(item.expression(), scope);
        column = output.indexOf(bound);
        if (column < 0) {
          if (distinct) {
            throw context.error(
                ErrorCode.INVALID_COLUMN_REFERENCE,
                "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                item.expression());
          }
          column = output.size();
          output.add(bound);
        }
      }
      keys.add(new SortOrder(column, item.descending(), item.nullsFirst()));
    }
    return keys;
  }

  /// Name of the column behind an input reference, for messages.
  static String columnName(Scope scope, int index) {
    for (Scope.Field field : scope.fields) {
      if (field.expression() instanceof RexInputRef reference && reference.getIndex() == index) {
        return field.alias() == null || field.alias().startsWith("?")
            ? field.name()
            : field.alias() + "." + field.name();
      }
    }
    return "?";
  }
}
