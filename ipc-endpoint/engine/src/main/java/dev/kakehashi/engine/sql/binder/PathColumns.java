package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.spelling.Traversal;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SearchOrder;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Columns that SEARCH and CYCLE add to a recursive query: in them each row has the rows on the way to it.
///
/// The recursive term reads them from the rows before, under an alias that nobody can write, and hands them on behind its own columns; what
/// it makes of them for its rows is computed around it. Rows that close a cycle are not read again.
public final class PathColumns {
  private static final String ALIAS = "kh path";

  /// A function has this many arguments at most, besides the path.
  private static final int MAX_COLUMNS = 60;

  private final BindContext context;
  private final QueryBinder queries;
  private final ExpressionBinder expressions;
  private final Scope.CommonQuery table;
  private final Traversal.@Nullable Search search;
  private final Traversal.@Nullable Cycle cycle;
  private final List<String> names;
  private final List<Integer> searched;
  private final List<Integer> cycled;

  /// The mark of a row that closes a cycle, and of others; null without CYCLE.
  private final @Nullable RexNode closing;

  private final @Nullable RexNode open;

  /// @param names of the query's own columns
  /// @throws EngineException SYNTAX_ERROR, DUPLICATE_COLUMN, FEATURE_NOT_SUPPORTED
  PathColumns(
      QueryBinder queries,
      Scope.CommonQuery table,
      Traversal traversal,
      List<String> names,
      List<SqlType> types) {
    this.context = queries.context;
    this.queries = queries;
    this.expressions = queries.expressions;
    this.table = table;
    this.search = traversal.search();
    this.cycle = traversal.cycle();
    this.names = names;
    requireSelects();
    this.searched = search == null ? List.of() : columns(search.columns(), "search");
    this.cycled = cycle == null ? List.of() : columns(cycle.columns(), "cycle");
    for (int column : searched) {
      if (!SearchOrder.takes(types.get(column).oid())) {
        throw refused("SEARCH by a column of type " + Types.name(types.get(column).oid()));
      }
    }
    for (int column : cycled) {
      Types.requireEquality(types.get(column).oid());
    }
    refuseNames();
    if (cycle == null) {
      closing = null;
      open = null;
    } else {
      RexNode value = mark(cycle.value(), true);
      RexNode other = mark(cycle.otherwise(), false);
      SqlType common =
          expressions.coercion.commonType(
              List.of(PgType.of(value), PgType.of(other)), "CYCLE", table.query());
      Types.requireEquality(common.oid());
      List<RexNode> marks =
          expressions.calls.convertAll(List.of(value, other), common, "CYCLE", table.query());
      closing = marks.getFirst();
      open = marks.getLast();
    }
  }

  private void requireSelects() {
    SqlBasicCall union = (SqlBasicCall) table.query();
    for (int i = 0; i < 2; i++) {
      if (union.operand(i).getKind() != SqlKind.SELECT
          && union.operand(i).getKind() != SqlKind.VALUES) {
        throw new EngineException(
                ErrorCode.FEATURE_NOT_SUPPORTED,
                "with a SEARCH or CYCLE clause, the "
                    + (i == 0 ? "left" : "right")
                    + " side of the UNION must be a SELECT")
            .withPosition(context.position(union.operand(i)));
      }
    }
  }

  private List<Integer> columns(List<QualifiedName> wanted, String clause) {
    List<Integer> columns = new ArrayList<>();
    for (QualifiedName column : wanted) {
      int at = names.indexOf(column.name());
      if (at < 0) {
        throw new EngineException(
                ErrorCode.SYNTAX_ERROR,
                clause + " column \"" + column.name() + "\" not in WITH query column list")
            .withPosition(column.position());
      }
      if (columns.contains(at)) {
        throw new EngineException(
                ErrorCode.DUPLICATE_COLUMN,
                clause + " column \"" + column.name() + "\" specified more than once")
            .withPosition(column.position());
      }
      columns.add(at);
    }
    if (columns.size() > MAX_COLUMNS) {
      throw refused("SEARCH or CYCLE of more than " + MAX_COLUMNS + " columns");
    }
    return columns;
  }

  private static EngineException refused(String what) {
    return new EngineException(ErrorCode.FEATURE_NOT_SUPPORTED, what + " is not supported");
  }

  private void refuseNames() {
    Set<String> used = new HashSet<>(names);
    List<QualifiedName> added = new ArrayList<>();
    if (search != null) {
      added.add(search.sequence());
    }
    if (cycle != null) {
      added.add(cycle.mark());
      added.add(cycle.path());
    }
    for (QualifiedName name : added) {
      if (!used.add(name.name())) {
        throw new EngineException(
                ErrorCode.SYNTAX_ERROR, "column name \"" + name.name() + "\" is used already")
            .withDetail("SEARCH and CYCLE add columns to those of the WITH query.")
            .withPosition(name.position());
      }
    }
  }

  private RexNode mark(@Nullable Source text, boolean value) {
    if (text == null) {
      return context.rex.makeLiteral(value);
    }
    return context.within(
        text,
        () -> expressions.bind(CalciteParser.parseExpression(text), new Scope(table.scope())));
  }

  // ---- places of the columns: the sequence, the depth, the mark, the path ----

  private int sequence() {
    return names.size();
  }

  private boolean breadth() {
    return search != null && search.breadth();
  }

  private int markColumn() {
    return names.size() + (search == null ? 0 : 1) + (breadth() ? 1 : 0);
  }

  private int added() {
    return markColumn() - names.size() + (cycle == null ? 0 : 2);
  }

  /// The non-recursive term with the columns of rows that nothing leads to.
  BoundQuery first(BoundQuery anchor) {
    return new BoundQuery(around(anchor.rel(), null), hiddenNames());
  }

  private List<String> hiddenNames() {
    List<String> all = new ArrayList<>(names);
    for (int i = 0; i < added(); i++) {
      all.add(ALIAS + " " + i);
    }
    return all;
  }

  /// Rows that the recursive term reads: rows that close no cycle.
  RelNode followed(RelNode work) {
    if (cycle == null) {
      return work;
    }
    RexNode mark = context.rex.makeInputRef(work, markColumn());
    return LogicalFilter.create(work, call("<>", List.of(mark, Objects.requireNonNull(closing))));
  }

  /// Adds the columns behind those with names to what FROM gives.
  static void addTo(List<Scope.Field> fields, BoundQuery work, RexBuilder rex) {
    int count = work.rel().getRowType().getFieldCount();
    for (int i = work.names().size(); i < count; i++) {
      String name = ALIAS + " " + (i - work.names().size());
      fields.add(new Scope.Field(ALIAS, null, name, rex.makeInputRef(work.rel(), i), true));
    }
  }

  /// Adds them to a select list.
  static void passOn(Scope scope, List<SelectBinder.Item> items) {
    for (Scope.Field field : scope.fields) {
      if (ALIAS.equals(field.alias())) {
        items.add(new SelectBinder.Item(field.name(), field.expression()));
      }
    }
  }

  /// @throws EngineException FEATURE_NOT_SUPPORTED if the recursive term does not read the rows before in its own FROM
  void requirePassedOn(BoundQuery step) {
    List<String> hidden = hiddenNames().subList(names.size(), names.size() + added());
    int own = step.names().size() - added();
    if (own < 0 || !step.names().subList(own, step.names().size()).equals(hidden)) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "with a SEARCH or CYCLE clause, the recursive reference to WITH query \""
              + table.name()
              + "\" must be at the top level of its right-hand SELECT",
          table.query());
    }
  }

  /// The recursive term with the columns for its own rows in place of those for the rows before.
  RelNode next(RelNode step) {
    return around(step, step);
  }

  /// @param before what has the columns for the rows before, or null
  private RelNode around(RelNode rel, @Nullable RelNode before) {
    List<RexNode> columns = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      columns.add(context.rex.makeInputRef(rel, i));
    }
    if (search != null) {
      addSearch(rel, before, columns);
    }
    if (cycle != null) {
      addCycle(rel, before, columns);
    }
    List<String> all = hiddenNames();
    return queries.project(rel, columns, all, Set.of());
  }

  private void addSearch(RelNode rel, @Nullable RelNode before, List<RexNode> columns) {
    List<RexNode> row = new ArrayList<>();
    int type;
    if (breadth()) {
      type = Types.RECORD;
      RexNode depth =
          before == null
              ? number(0)
              : call("+", List.of(context.rex.makeInputRef(before, sequence() + 1), number(1)));
      row.add(depth);
    } else {
      type = Types.RECORD_ARRAY;
      row.add(before == null ? nothing(type) : context.rex.makeInputRef(before, sequence()));
    }
    searched.forEach(column -> row.add(context.rex.makeInputRef(rel, column)));
    int[] oids = row.stream().mapToInt(PgType::oidOf).toArray();
    columns.add(
        expressions.coercion.call(
            breadth() ? SearchOrder.record(oids) : SearchOrder.longer(oids),
            row,
            SqlType.of(type),
            ""));
    if (breadth()) {
      columns.add(row.getFirst());
    }
  }

  private void addCycle(RelNode rel, @Nullable RelNode before, List<RexNode> columns) {
    List<RexNode> row = new ArrayList<>();
    row.add(
        before == null
            ? nothing(Types.RECORD_ARRAY)
            : context.rex.makeInputRef(before, markColumn() + 1));
    cycled.forEach(column -> row.add(context.rex.makeInputRef(rel, column)));
    int[] oids = row.stream().mapToInt(PgType::oidOf).toArray();
    RexNode other = Objects.requireNonNull(open);
    if (before == null) {
      columns.add(other);
    } else {
      RexNode met =
          expressions.coercion.call(SearchOrder.contains(oids), row, SqlType.of(TypeOid.BOOL), "");
      columns.add(
          context.rex.makeCall(
              context.types.of(PgType.of(other), true),
              PgOperators.CASE,
              List.of(met, Objects.requireNonNull(closing), other)));
    }
    columns.add(
        expressions.coercion.call(
            SearchOrder.longer(oids), row, SqlType.of(Types.RECORD_ARRAY), ""));
  }

  /// The query as others see it.
  BoundQuery shown(RelNode rows) {
    List<String> all = new ArrayList<>(names);
    List<RexNode> columns = new ArrayList<>();
    for (int i = 0; i < rows.getRowType().getFieldCount(); i++) {
      if (!(breadth() && i == sequence() + 1)) {
        columns.add(context.rex.makeInputRef(rows, i));
      }
    }
    if (search != null) {
      all.add(search.sequence().name());
    }
    if (cycle != null) {
      all.add(cycle.mark().name());
      all.add(cycle.path().name());
    }
    return new BoundQuery(queries.project(rows, columns, all, Set.of()), all);
  }

  /// A result: what SEARCH orders by, and paths, are shown as text.
  public static BoundQuery asText(BoundQuery query, QueryBinder queries) {
    List<SqlType> types = query.types();
    if (types.stream().noneMatch(PathColumns::isOrder)) {
      return query;
    }
    SqlType text = SqlType.of(TypeOid.TEXT);
    List<RexNode> columns = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      RexNode column = queries.context.rex.makeInputRef(query.rel(), i);
      columns.add(
          isOrder(types.get(i))
              ? Objects.requireNonNull(
                  queries.expressions.coercion.convert(column, text, CastContext.EXPLICIT))
              : column);
    }
    return new BoundQuery(
        queries.project(query.rel(), columns, query.names(), Set.of()), query.names());
  }

  private static boolean isOrder(SqlType type) {
    return type.oid() == Types.RECORD || type.oid() == Types.RECORD_ARRAY;
  }

  private RexNode call(String function, List<RexNode> arguments) {
    SqlNode at = table.query();
    return expressions.calls.function(at, function, arguments);
  }

  private RexNode number(long value) {
    return expressions.coercion.constant(Constant.of(SqlType.of(TypeOid.INT8), value));
  }

  private RexNode nothing(int oid) {
    return expressions.coercion.constant(Constant.ofNull(SqlType.of(oid)));
  }
}
