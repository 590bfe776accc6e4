package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.jspecify.annotations.Nullable;

/// Binds GROUP BY with GROUPING SETS, ROLLUP and CUBE, and GROUP BY ALL.
final class GroupByBinder {
  /// As in PostgreSQL.
  private static final int MAX_SETS = 4096;

  private static final int MAX_CUBE = 12;

  /// Keys and sets of GROUP BY.
  ///
  /// @param keys every expression once
  /// @param sets null: one set of all keys
  record GroupBy(List<RexNode> keys, @Nullable List<Set<RexNode>> sets) {
    /// Whether a key is made of the rows of a function.
    boolean hasRowCalls() {
      return keys.stream().anyMatch(key -> PgOperators.Place.isIn(key, PgOperators.RowPlace.class));
    }

    GroupBy changed(UnaryOperator<RexNode> change) {
      List<Set<RexNode>> changed = null;
      if (sets != null) {
        changed = new ArrayList<>();
        for (Set<RexNode> set : sets) {
          Set<RexNode> one = new LinkedHashSet<>();
          set.forEach(key -> one.add(change.apply(key)));
          changed.add(one);
        }
      }
      return new GroupBy(keys.stream().map(change).toList(), changed);
    }
  }

  private final BindContext context;
  private final QueryBinder queries;
  private final Scope scope;
  private final List<SelectBinder.Item> items;

  GroupByBinder(QueryBinder queries, Scope scope, List<SelectBinder.Item> items) {
    this.context = queries.context;
    this.queries = queries;
    this.scope = scope;
    this.items = items;
  }

  GroupBy bind(@Nullable SqlNodeList group) {
    if (group == null) {
      return new GroupBy(List.of(), null);
    }
    if (group.size() == 1 && ExpressionBinder.isCall(group.get(0), Marks.GROUP_BY_ALL_CALL)) {
      return new GroupBy(allKeys(), null);
    }
    List<Set<RexNode>> sets = List.of(new LinkedHashSet<>());
    boolean several = false;
    boolean distinct = group.size() == 1 && group.get(0).getKind() == SqlKind.GROUP_BY_DISTINCT;
    for (SqlNode node : distinct ? ((SqlCall) group.get(0)).getOperandList() : group) {
      several |= isSets(node);
      sets = product(sets, sets(node));
      if (sets.size() > MAX_SETS) {
        throw new EngineException(
            ErrorCode.LIMIT_EXCEEDED, "too many grouping sets present (maximum 4096)");
      }
    }
    if (distinct) {
      sets = List.copyOf(new LinkedHashSet<>(sets));
    }
    Set<RexNode> keys = new LinkedHashSet<>();
    sets.forEach(keys::addAll);
    return new GroupBy(List.copyOf(keys), several ? sets : null);
  }

  /// The items of the select list without aggregates and window functions. No item is left: one group, as for `GROUP BY ()`.
  private List<RexNode> allKeys() {
    Set<RexNode> keys = new LinkedHashSet<>();
    for (SelectBinder.Item item : items) {
      RexNode expression = item.expression();
      // A select list without columns has an item without a name.
      if (!item.name().isEmpty()
          && !Grouping.hasAggregate(expression)
          && !Grouping.hasAggregateInSubquery(expression, scope)
          && !PgOperators.Place.isIn(expression, PgOperators.WindowPlace.class)) {
        keys.add(expression);
      }
    }
    return List.copyOf(keys);
  }

  private static boolean isSets(SqlNode node) {
    return node.getKind() == SqlKind.GROUPING_SETS
        || node.getKind() == SqlKind.ROLLUP
        || node.getKind() == SqlKind.CUBE;
  }

  private static List<Set<RexNode>> product(List<Set<RexNode>> left, List<Set<RexNode>> right) {
    List<Set<RexNode>> all = new ArrayList<>();
    for (Set<RexNode> a : left) {
      for (Set<RexNode> b : right) {
        Set<RexNode> both = new LinkedHashSet<>(a);
        both.addAll(b);
        all.add(both);
      }
    }
    return all;
  }

  private List<Set<RexNode>> sets(SqlNode node) {
    if (!isSets(node)) {
      return List.of(composite(node));
    }
    List<SqlNode> operands = ((SqlCall) node).getOperandList();
    List<Set<RexNode>> sets = new ArrayList<>();
    switch (node.getKind()) {
      case GROUPING_SETS -> operands.forEach(operand -> sets.addAll(sets(operand)));
      case ROLLUP -> {
        Set<RexNode> prefix = new LinkedHashSet<>();
        sets.add(Set.copyOf(prefix));
        for (SqlNode operand : operands) {
          prefix.addAll(composite(operand));
          sets.addFirst(new LinkedHashSet<>(prefix));
        }
      }
      default -> {
        if (operands.size() > MAX_CUBE) {
          throw context.error(ErrorCode.LIMIT_EXCEEDED, "CUBE is limited to 12 elements", node);
        }
        List<Set<RexNode>> elements = operands.stream().map(this::composite).toList();
        for (int bits = (1 << elements.size()) - 1; bits >= 0; bits--) {
          Set<RexNode> set = new LinkedHashSet<>();
          for (int i = 0; i < elements.size(); i++) {
            if ((bits >> i & 1) != 0) {
              set.addAll(elements.get(i));
            }
          }
          sets.add(set);
        }
      }
    }
    return sets;
  }

  /// One expression, or several in parentheses.
  private Set<RexNode> composite(SqlNode node) {
    Set<RexNode> set = new LinkedHashSet<>();
    if (node instanceof SqlNodeList list) {
      list.forEach(item -> set.add(expression(item)));
    } else if (node.getKind() == SqlKind.ROW) {
      ((SqlCall) node).getOperandList().forEach(item -> set.add(expression(item)));
    } else {
      set.add(expression(node));
    }
    return set;
  }

  private RexNode expression(SqlNode node) {
    List<String> names = items.stream().map(SelectBinder.Item::name).toList();
    RexNode bound;
    if (node instanceof SqlDynamicParam) {
      int column =
          queries.outputColumn(
              node, names, items.stream().map(SelectBinder.Item::expression).toList());
      bound =
          column >= 0 ? items.get(column).expression() : queries.expressions.bindTyped(node, scope);
    } else if (node instanceof SqlIdentifier identifier
        && identifier.isSimple()
        && scope.fields.stream().noneMatch(f -> f.name().equals(identifier.getSimple()))
        && names.contains(identifier.getSimple())) {
      bound = items.get(names.indexOf(identifier.getSimple())).expression();
    } else {
      bound = queries.expressions.bindTyped(node, scope);
    }
    if (Grouping.hasAggregate(bound)) {
      throw context.error(
          ErrorCode.GROUPING_ERROR, "aggregate functions are not allowed in GROUP BY", node);
    }
    if (PgOperators.Place.isIn(bound, PgOperators.WindowPlace.class)) {
      throw context.error(
          ErrorCode.WINDOWING_ERROR, "window functions are not allowed in GROUP BY", node);
    }
    return bound;
  }
}
