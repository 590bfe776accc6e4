package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.ExpressionRows;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.algebra.SortOrder;
import dev.kakehashi.engine.sql.spelling.Marks;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.spelling.Traversal;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.sql.typing.BoundQuery.Expectation;
import dev.kakehashi.engine.sql.typing.CommonTables;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.logical.LogicalIntersect;
import org.apache.calcite.rel.logical.LogicalMinus;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.logical.LogicalUnion;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlSetOperator;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.SqlWithItem;
import org.apache.calcite.sql.validate.SqlValidatorUtil;
import org.jspecify.annotations.Nullable;

/// Binds queries: WITH, set operations, VALUES, ORDER BY, LIMIT; SELECT is [SelectBinder]'s.
public final class QueryBinder {
  public final BindContext context;
  public final ExpressionBinder expressions;
  public final SubqueryBinder subqueries;
  public final FromBinder from;
  public final SelectBinder selects;

  public QueryBinder(BindContext context) {
    this.context = context;
    this.expressions = new ExpressionBinder(context, this);
    this.subqueries = new SubqueryBinder(context, this);
    this.from = new FromBinder(context, this);
    this.selects = new SelectBinder(context, this);
  }

  /// ORDER BY, OFFSET and LIMIT of a query.
  record Tail(List<SqlNode> order, @Nullable SqlNode offset, @Nullable SqlNode fetch) {
    static final Tail NONE = new Tail(List.of(), null, null);
  }

  public BoundQuery bind(SqlNode node, @Nullable Scope parent, Expectation expectation) {
    return bind(node, parent, expectation, Tail.NONE);
  }

  private BoundQuery bind(
      SqlNode node, @Nullable Scope parent, Expectation expectation, Tail tail) {
    Interrupts.check();
    return switch (node.getKind()) {
      case ORDER_BY -> {
        SqlOrderBy orderBy = (SqlOrderBy) node;
        yield bind(
            orderBy.query,
            parent,
            expectation,
            new Tail(
                orderBy.orderList.getList().stream().<SqlNode>map(n -> n).toList(),
                orderBy.offset,
                orderBy.fetch));
      }
      case WITH -> bindWith((SqlWith) node, parent, expectation, tail);
      case SELECT -> selects.bind((SqlSelect) node, parent, expectation, tail);
      case UNION, INTERSECT, EXCEPT ->
          sorted(setOperation((SqlBasicCall) node, parent, expectation), tail, parent);
      case VALUES -> sorted(values((SqlCall) node, parent, expectation), tail, parent);
      case EXPLICIT_TABLE -> {
        SqlSelect all =
            new SqlSelect(
                node.getParserPosition(),
                null,
                SqlNodeList.of(SqlIdentifier.star(node.getParserPosition())),
                ((SqlCall) node).operand(0),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
        yield selects.bind(all, parent, expectation, tail);
      }
      default -> throw expressions.unsupported(node, node.getKind().lowerName);
    };
  }

  private BoundQuery bindWith(
      SqlWith with, @Nullable Scope parent, Expectation expectation, Tail tail) {
    Scope scope = new Scope(parent);
    List<SqlNode> rest = new ArrayList<>(with.withList.getList());
    rest.add(with.body);
    for (int i = 0; i < with.withList.size(); i++) {
      rest.removeFirst();
      SqlWithItem item = (SqlWithItem) with.withList.get(i);
      if (isTraversal(item)) {
        continue;
      }
      List<String> columns = new ArrayList<>();
      if (item.columnList != null) {
        item.columnList.forEach(column -> columns.add(((SqlIdentifier) column).getSimple()));
      }
      boolean recursive = item.recursive != null && item.recursive.booleanValue();
      int references = parent == null ? CommonTables.references(item.name.getSimple(), rest) : 0;
      addCommonTable(
          scope,
          item.name.getSimple(),
          item.query,
          context.source,
          columns,
          recursive,
          references,
          i + 1 < with.withList.size() ? traversal((SqlWithItem) with.withList.get(i + 1)) : null);
    }
    return bind(with.body, scope, expectation, tail);
  }

  private static boolean isTraversal(SqlWithItem item) {
    return item.name.getSimple().equals(Marks.TRAVERSAL_QUERY);
  }

  /// SEARCH and CYCLE for which an item stands; null for a query.
  private @Nullable Traversal traversal(SqlWithItem item) {
    if (!isTraversal(item)) {
      return null;
    }
    SqlDynamicParam value = ((SqlCall) ((SqlCall) item.query).operand(0)).operand(0);
    return ((Source.Literal.Path) expressions.literals.source(value)).traversal();
  }

  /// Adds a query of WITH to a scope.
  ///
  /// @param recursive whether it may name itself
  /// @param references places that name it, if its rows may be kept for all of them; else 0
  /// @param traversal its SEARCH and CYCLE, or null
  void addCommonTable(
      Scope scope,
      String name,
      SqlNode query,
      Source source,
      List<String> columns,
      boolean recursive,
      int references,
      @Nullable Traversal traversal) {
    refuseKnown(scope, name, context.position(query));
    Scope visible = visible(scope);
    boolean namesItself = recursive && RecursionBinder.names(query, name);
    if (traversal != null && !namesItself) {
      throw new EngineException(ErrorCode.SYNTAX_ERROR, "WITH query is not recursive")
          .withPosition(traversal.position());
    }
    Scope.CommonQuery table =
        new Scope.CommonQuery(
            name,
            query,
            source,
            columns,
            visible,
            namesItself ? new Scope.Recursion(traversal) : null,
            null);
    if (table.recursion() != null) {
      visible.commonTables.add(table);
    }
    // Bound once here so that errors in a query that nobody names are found.
    BindContext.Noted before = context.noted();
    BoundQuery bound = commonTable(table);
    Integer number = context.commonTables.keep(name, references, bound, context);
    if (number == null) {
      // Each place that names it binds it anew, and notes what it needs.
      context.forgetSince(before);
    }
    scope.commonTables.add(number == null ? table : table.kept(new Scope.KeptRows(bound, number)));
  }

  /// Refuses a second query of WITH by a name.
  public static void refuseKnown(Scope scope, String name, int position) {
    if (scope.commonTables.stream().anyMatch(table -> table.name().equals(name))) {
      throw new EngineException(
              ErrorCode.DUPLICATE_ALIAS,
              "WITH query name \"" + name + "\" specified more than once")
          .withPosition(position);
    }
  }

  /// A scope with the queries of WITH so far.
  public static Scope visible(Scope scope) {
    Scope visible = new Scope(scope.parent);
    visible.commonTables.addAll(scope.commonTables);
    return visible;
  }

  BoundQuery commonTable(Scope.CommonQuery table) {
    return context.within(
        table.source(),
        () ->
            table.recursion() == null
                ? bind(table.query(), table.scope(), Expectation.NONE)
                : new RecursionBinder(this).bind(table, table.recursion()));
  }

  private BoundQuery setOperation(
      SqlBasicCall call, @Nullable Scope parent, Expectation expectation) {
    Expectation inner = expectation.types() == null ? Expectation.KEEP_UNKNOWN : expectation;
    List<SqlBasicCall> calls = chain(call);
    BoundQuery first = bind(calls.getFirst().operand(0), parent, inner);
    List<String> names = first.names();
    List<SqlType> types = first.types();
    List<RelNode> inputs = new ArrayList<>(List.of(first.rel()));
    for (SqlBasicCall each : calls) {
      String what = each.getKind().name();
      BoundQuery second = bind(each.operand(1), parent, inner);
      if (second.names().size() != names.size()) {
        throw context.error(
            ErrorCode.SYNTAX_ERROR,
            "each " + what + " query must have the same number of columns",
            each);
      }
      List<SqlType> before = types;
      types = commonTypes(before, second.types(), what, each);
      if (!types.equals(before)) {
        BoundQuery left = new BoundQuery(united(call, inputs), names);
        if (hasUnknown(before)) {
          left = bind(each.operand(0), parent, Expectation.of(types));
        }
        inputs = new ArrayList<>(List.of(convertColumns(left, types, what, each)));
      }
      if (hasUnknown(second.types())) {
        second = bind(each.operand(1), parent, Expectation.of(types));
      }
      inputs.add(convertColumns(second, types, what, each));
    }
    return new BoundQuery(united(call, inputs), names);
  }

  /// A chain of UNION is one operation with many inputs: thousands one in another are a tree that the planner's work grows with the square
  /// of.
  ///
  /// @return the call and those on its left that are of the same kind, the innermost first
  private static List<SqlBasicCall> chain(SqlBasicCall call) {
    ArrayDeque<SqlBasicCall> calls = new ArrayDeque<>(List.of(call));
    while (call.getKind() == SqlKind.UNION
        && calls.getFirst().operand(0) instanceof SqlBasicCall left
        && left.getOperator().equals(call.getOperator())) {
      calls.addFirst(left);
    }
    return List.copyOf(calls);
  }

  private static boolean hasUnknown(List<SqlType> types) {
    return types.stream().anyMatch(type -> type.oid() == Types.UNKNOWN);
  }

  private List<SqlType> commonTypes(
      List<SqlType> left, List<SqlType> right, String what, SqlNode at) {
    List<SqlType> types = new ArrayList<>();
    for (int i = 0; i < left.size(); i++) {
      types.add(expressions.coercion.commonType(List.of(left.get(i), right.get(i)), what, at));
    }
    return types;
  }

  private static RelNode united(SqlBasicCall call, List<RelNode> inputs) {
    if (inputs.size() == 1) {
      return inputs.getFirst();
    }
    boolean all = ((SqlSetOperator) call.getOperator()).isAll();
    return switch (call.getKind()) {
      case UNION -> LogicalUnion.create(inputs, all);
      case INTERSECT -> LogicalIntersect.create(inputs, all);
      default -> LogicalMinus.create(inputs, all);
    };
  }

  private BoundQuery values(SqlCall call, @Nullable Scope parent, Expectation expectation) {
    Scope scope = new Scope(parent, "VALUES");
    scope.rowType = oneRow().getRowType();
    List<List<RexNode>> rows = new ArrayList<>();
    for (SqlNode node : call.getOperandList()) {
      List<RexNode> row = new ArrayList<>();
      for (SqlNode value : ((SqlCall) node).getOperandList()) {
        row.add(expressions.bind(value, scope));
      }
      if (!rows.isEmpty() && rows.getFirst().size() != row.size()) {
        throw context.error(
            ErrorCode.SYNTAX_ERROR, "VALUES lists must all be the same length", node);
      }
      rows.add(row);
    }
    List<SqlType> types = valueTypes(rows, expectation, call);
    List<List<RexNode>> typed = new ArrayList<>();
    for (List<RexNode> row : rows) {
      List<RexNode> converted = new ArrayList<>();
      for (int i = 0; i < row.size(); i++) {
        converted.add(convertColumn(row.get(i), types.get(i), "VALUES", call));
      }
      typed.add(converted);
    }
    List<String> names = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      names.add("column" + (i + 1));
    }
    List<RelDataType> relTypes = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      int column = i;
      relTypes.add(
          context.types.of(
              types.get(i), typed.stream().anyMatch(r -> r.get(column).getType().isNullable())));
    }
    RelDataType rowType = context.types.createStructType(relTypes, names);
    return new BoundQuery(rows(rowType, typed, scope.correlations()), names);
  }

  /// Rows of values that name no columns; subqueries stand in projects only.
  ///
  /// @param correlations names that the subqueries have for the one row that they are computed over
  public RelNode rows(
      RelDataType rowType, List<List<RexNode>> rows, Set<CorrelationId> correlations) {
    if (rows.stream().flatMap(List::stream).noneMatch(Inspection::hasSubquery)) {
      return new ExpressionRows(context.cluster, rowType, rows);
    }
    List<RelNode> inputs = new ArrayList<>();
    for (List<RexNode> row : rows) {
      inputs.add(project(oneRow(), row, rowType.getFieldNames(), correlations));
    }
    return inputs.size() == 1 ? inputs.getFirst() : LogicalUnion.create(inputs, true);
  }

  private List<SqlType> valueTypes(List<List<RexNode>> rows, Expectation expectation, SqlNode at) {
    List<SqlType> types = new ArrayList<>();
    for (int i = 0; i < rows.getFirst().size(); i++) {
      int column = i;
      List<SqlType> given = rows.stream().map(row -> PgType.of(row.get(column))).toList();
      boolean unknown = given.stream().allMatch(t -> t.oid() == Types.UNKNOWN);
      List<SqlType> expected = expectation.types();
      if (unknown && expected != null && i < expected.size()) {
        types.add(SqlType.of(expected.get(i).oid()));
      } else if (unknown && expectation.keepUnknown()) {
        types.add(SqlType.of(Types.UNKNOWN));
      } else {
        types.add(expressions.coercion.commonType(given, "VALUES", at));
      }
    }
    return types;
  }

  private RexNode convertColumn(RexNode value, SqlType type, String what, SqlNode at) {
    if (type.oid() == Types.UNKNOWN) {
      return value;
    }
    return expressions.calls.convertAll(List.of(value), type, what, at).getFirst();
  }

  /// The query with its columns converted to types.
  RelNode convertColumns(BoundQuery query, List<SqlType> types, String what, SqlNode at) {
    List<RexNode> columns = new ArrayList<>();
    boolean changed = false;
    for (int i = 0; i < types.size(); i++) {
      RexNode reference = context.rex.makeInputRef(query.rel(), i);
      SqlType type = types.get(i);
      if (PgType.of(reference).equals(type) || type.oid() == Types.UNKNOWN) {
        columns.add(reference);
        continue;
      }
      changed = true;
      RexNode converted =
          PgType.oidOf(reference) == Types.UNKNOWN
              ? null
              : expressions.coercion.convert(reference, type, CastContext.IMPLICIT);
      if (converted == null) {
        throw expressions.coercion.notConverted(what, PgType.oidOf(reference), type.oid(), at);
      }
      columns.add(converted);
    }
    return changed ? project(query.rel(), columns, query.names(), java.util.Set.of()) : query.rel();
  }

  /// ORDER BY names or positions of the output, OFFSET and LIMIT.
  private BoundQuery sorted(BoundQuery query, Tail tail, @Nullable Scope parent) {
    List<SortOrder> keys = new ArrayList<>();
    for (SqlNode node : tail.order()) {
      SortOrder.Item item = SortOrder.item(node);
      int column =
          outputColumn(
              item.expression(),
              query.names(),
              context.rex.identityProjects(query.rel().getRowType()));
      if (column < 0) {
        throw context
            .error(
                ErrorCode.FEATURE_NOT_SUPPORTED,
                "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
                item.expression())
            .withDetail("Only result column names can be used, not expressions or functions.");
      }
      keys.add(new SortOrder(column, item.descending(), item.nullsFirst()));
    }
    RexNode offset = limit(tail.offset(), "OFFSET", parent);
    RexNode fetch = limit(tail.fetch(), "LIMIT", parent);
    FirstRows first = new FirstRows(this);
    SqlNode count = tail.fetch();
    RelNode rel =
        count != null && hasTies(count)
            ? first.limited(
                first.withTies(query.rel(), keys, offset, fetch, count), keys, null, null)
            : first.limited(query.rel(), keys, offset, fetch);
    return new BoundQuery(rel, query.names());
  }

  /// Whether a count of rows is of FETCH FIRST ... WITH TIES.
  boolean hasTies(@Nullable SqlNode count) {
    return count instanceof SqlDynamicParam parameter
        && expressions.literals.source(parameter) instanceof Source.Literal.WithTies;
  }

  /// Output column that an ORDER BY or GROUP BY item names by position or name; -1 if none.
  ///
  /// @param columns of the output: a name of several of them that differ is ambiguous
  int outputColumn(SqlNode node, List<String> names, List<RexNode> columns) {
    if (node instanceof SqlDynamicParam parameter
        && expressions.literals.source(parameter) instanceof Source.Literal.NumberText number) {
      int position = number.text().matches("\\d{1,6}") ? Integer.parseInt(number.text()) : 0;
      if (position < 1 || position > names.size()) {
        throw context.error(
            ErrorCode.INVALID_COLUMN_REFERENCE,
            "ORDER BY position " + number.text() + " is not in select list",
            node);
      }
      return position - 1;
    }
    if (node instanceof SqlIdentifier identifier && identifier.isSimple() && !identifier.isStar()) {
      String name = identifier.getSimple();
      int first = names.indexOf(name);
      for (int other = first + 1; first >= 0 && other < names.size(); other++) {
        if (names.get(other).equals(name) && !columns.get(other).equals(columns.get(first))) {
          throw context.error(
              ErrorCode.AMBIGUOUS_COLUMN, "ORDER BY \"" + name + "\" is ambiguous", node);
        }
      }
      return first;
    }
    return -1;
  }

  /// The value of LIMIT or OFFSET; null if there is none.
  ///
  /// @param parent scope around the query: its WITH is known, its columns are not
  @Nullable RexNode limit(@Nullable SqlNode node, String clause, @Nullable Scope parent) {
    if (node == null) {
      return null;
    }
    Scope scope = new Scope(withoutColumns(parent), clause);
    RexNode bound = expressions.bind(node, scope);
    RexNode converted =
        expressions.coercion.convert(bound, SqlType.of(TypeOid.INT8), CastContext.ASSIGNMENT);
    if (converted == null || PgType.oidOf(bound) == TypeOid.TEXT) {
      throw context.error(
          ErrorCode.DATATYPE_MISMATCH, "argument of " + clause + " must be type bigint", node);
    }
    Constant constant = Constant.of(converted);
    if (constant == null) {
      return converted;
    }
    return constant.isNull()
        ? null
        : context.rex.makeExactLiteral(
            BigDecimal.valueOf(requireCount(constant.word(), clause)),
            context.types.of(TypeOid.INT8, false));
  }

  /// @throws EngineException for a negative one
  static long requireCount(long count, String clause) {
    if (count < 0) {
      throw new EngineException(
          clause.equals("LIMIT")
              ? ErrorCode.INVALID_ROW_COUNT_IN_LIMIT
              : ErrorCode.INVALID_ROW_COUNT_IN_OFFSET,
          clause + " must not be negative");
    }
    return count;
  }

  private static @Nullable Scope withoutColumns(@Nullable Scope scope) {
    if (scope == null) {
      return null;
    }
    Scope queries = new Scope(withoutColumns(scope.parent));
    queries.commonTables.addAll(scope.commonTables);
    return queries;
  }

  /// One row without columns that anybody could name.
  public RelNode oneRow() {
    RexNode zero = expressions.coercion.constant(Constant.of(SqlType.of(TypeOid.INT4), 0));
    RelDataType rowType = context.types.createStructType(List.of(zero.getType()), List.of("zero"));
    return new ExpressionRows(context.cluster, rowType, List.of(List.of(zero)));
  }

  public RelNode project(
      RelNode input, List<RexNode> expressions, List<String> names, Set<CorrelationId> variables) {
    return LogicalProject.create(
        input, List.of(), expressions, SqlValidatorUtil.uniquify(names, true), variables);
  }
}
