package dev.kakehashi.engine.sql;

import com.google.common.collect.ImmutableSet;
import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.BoundQuery.Expectation;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDelete;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlInsert;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlUpdate;
import org.jspecify.annotations.Nullable;

/// Binds INSERT, UPDATE and DELETE with RETURNING, down to the physical plan.
final class DmlBinder {
  /// A planned change.
  ///
  /// @param columns result columns of RETURNING
  record Planned(PhysicalPlan plan, List<Statement.Column> columns) {}

  private record Returning(@Nullable List<Expr> expressions, List<Statement.Column> columns) {
    static final Returning NONE = new Returning(null, List.of());
  }

  private final BindContext context;
  private final QueryBinder queries;
  private final ExpressionBinder expressions;
  private final @Nullable Source returning;
  private final @Nullable List<String> conflictColumns;

  /// @param conflictColumns of ON CONFLICT DO NOTHING, see [Source.Rewritten]
  DmlBinder(
      QueryBinder queries, @Nullable Source returning, @Nullable List<String> conflictColumns) {
    this.context = queries.context;
    this.queries = queries;
    this.expressions = queries.expressions;
    this.returning = returning;
    this.conflictColumns = conflictColumns;
  }

  Planned insert(SqlInsert insert) {
    SqlIdentifier name = (SqlIdentifier) insert.getTargetTable();
    Table table = target(name);
    List<Integer> columns = targetColumns(table, insert.getTargetColumnList());
    RelNode source = insertSource(insert.getSource(), table, columns);
    PlanNode plan = new PlanTranslator(context).translate(Optimizer.optimize(source));
    Returning result = returning(table, name.names.getLast());
    return new Planned(
        new PhysicalPlan.Insert(target(table), plan, result.expressions, skipDuplicatesOf(table)),
        result.columns);
  }

  /// Unique indexes that ON CONFLICT DO NOTHING is about.
  private Set<Long> skipDuplicatesOf(Table table) {
    Set<Long> indexes = new HashSet<>();
    List<String> names = conflictColumns;
    if (names == null) {
      return indexes;
    }
    for (Index index : table.indexes()) {
      Set<String> columns = new HashSet<>();
      index.columns().forEach(column -> columns.add(table.columns().get(column).name()));
      if (index.unique() && (names.isEmpty() || columns.equals(Set.copyOf(names)))) {
        indexes.add(index.indexId());
      }
    }
    if (indexes.isEmpty() && !names.isEmpty()) {
      throw new EngineException(
          ErrorCode.INVALID_TABLE_DEFINITION,
          "there is no unique or exclusion constraint matching the ON CONFLICT specification");
    }
    return indexes;
  }

  Planned update(SqlUpdate update) {
    SqlIdentifier name = (SqlIdentifier) update.getTargetTable();
    Table table = target(name);
    String alias = update.getAlias() == null ? table.name() : update.getAlias().getSimple();
    Scope scope = tableScope(table, alias);
    RelNode scan = scan(table);
    scope.rowType = scan.getRowType();
    RelNode filtered = filter(scan, update.getCondition(), scope);
    scope.clause = "UPDATE";
    RexNode[] values = new RexNode[table.columns().size()];
    SqlNodeList targets = update.getTargetColumnList();
    for (int i = 0; i < targets.size(); i++) {
      SqlIdentifier target = (SqlIdentifier) targets.get(i);
      int column = column(table, target);
      if (values[column] != null) {
        throw context.error(
            ErrorCode.SYNTAX_ERROR,
            "multiple assignments to same column \"" + target.getSimple() + "\"",
            target);
      }
      SqlNode node = update.getSourceExpressionList().get(i);
      values[column] = assigned(expressions.bind(node, scope), table, column, node);
    }
    List<RexNode> all = new ArrayList<>();
    for (int i = 0; i < values.length; i++) {
      all.add(values[i] == null ? context.rex.makeInputRef(scan, i) : values[i]);
    }
    if (all.stream().anyMatch(Grouping::hasSubquery)) {
      throw expressions.unsupported(update, "subquery in UPDATE ... SET");
    }
    Returning result = returning(table, alias);
    return new Planned(
        new PhysicalPlan.Update(
            target(table),
            rows(filtered, update),
            ExprTranslator.translate(all),
            result.expressions),
        result.columns);
  }

  Planned delete(SqlDelete delete) {
    SqlIdentifier name = (SqlIdentifier) delete.getTargetTable();
    Table table = target(name);
    String alias = delete.getAlias() == null ? table.name() : delete.getAlias().getSimple();
    Scope scope = tableScope(table, alias);
    RelNode scan = scan(table);
    scope.rowType = scan.getRowType();
    RelNode filtered = filter(scan, delete.getCondition(), scope);
    Returning result = returning(table, alias);
    return new Planned(
        new PhysicalPlan.Delete(target(table), rows(filtered, delete), result.expressions),
        result.columns);
  }

  private RelNode filter(RelNode scan, @Nullable SqlNode condition, Scope scope) {
    if (condition == null) {
      return scan;
    }
    scope.clause = "WHERE";
    RexNode bound = expressions.bindCondition(condition, scope, "argument of WHERE");
    if (Grouping.hasSubquery(bound)) {
      throw expressions.unsupported(condition, "subquery in WHERE of UPDATE or DELETE");
    }
    return LogicalFilter.create(scan, bound, ImmutableSet.of());
  }

  /// The scan of the rows to change: all columns, in the table's order.
  private PlanNode rows(RelNode filtered, SqlNode at) {
    PlanTranslator.ScanShape shape = PlanTranslator.ScanShape.of(filtered, context.rex);
    if (shape == null) {
      throw expressions.unsupported(at, "this condition");
    }
    return AccessPath.choose(shape.table(), shape.columns(), shape.conjuncts(), context.rex);
  }

  private Table target(SqlIdentifier name) {
    Table table = queries.from.table(name);
    if (table.isSystem()) {
      throw context.error(
          ErrorCode.WRONG_OBJECT_TYPE, "cannot change system table \"" + table.name() + "\"", name);
    }
    return table;
  }

  private static PhysicalPlan.Target target(Table table) {
    int count = table.columns().size();
    int[] oids = new int[count];
    boolean[] notNull = new boolean[count];
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Column column = table.columns().get(i);
      oids[i] = column.type().oid();
      notNull[i] = column.notNull();
      names.add(column.name());
    }
    return new PhysicalPlan.Target(
        table.tableId(), table.schema(), table.name(), names, oids, notNull);
  }

  private RelNode scan(Table table) {
    return LogicalTableScan.create(context.cluster, CatalogTable.of(table, context), List.of());
  }

  private Scope tableScope(Table table, String alias) {
    Scope scope = new Scope(null);
    RelDataType rowType = CatalogTable.of(table, context).getRowType();
    for (int i = 0; i < table.columns().size(); i++) {
      scope.fields.add(
          new Scope.Field(
              alias,
              alias.equals(table.name()) ? table.schema() : null,
              table.columns().get(i).name(),
              context.rex.makeInputRef(rowType.getFieldList().get(i).getType(), i),
              false));
    }
    scope.rowType = rowType;
    return scope;
  }

  private int column(Table table, SqlIdentifier name) {
    int column = table.columnIndex(name.names.getLast());
    if (column < 0) {
      throw context.error(
          ErrorCode.UNDEFINED_COLUMN,
          "column \""
              + name.names.getLast()
              + "\" of relation \""
              + table.name()
              + "\" does not exist",
          name);
    }
    return column;
  }

  private List<Integer> targetColumns(Table table, @Nullable SqlNodeList list) {
    List<Integer> columns = new ArrayList<>();
    if (list == null || list.isEmpty()) {
      for (int i = 0; i < table.columns().size(); i++) {
        columns.add(i);
      }
      return columns;
    }
    Set<Integer> seen = new HashSet<>();
    for (SqlNode node : list) {
      int column = column(table, (SqlIdentifier) node);
      if (!seen.add(column)) {
        throw context.error(
            ErrorCode.DUPLICATE_COLUMN,
            "column \"" + table.columns().get(column).name() + "\" specified more than once",
            node);
      }
      columns.add(column);
    }
    return columns;
  }

  private RelNode insertSource(SqlNode source, Table table, List<Integer> columns) {
    if (source.getKind() == SqlKind.VALUES) {
      return insertValues((SqlCall) source, table, columns);
    }
    List<SqlType> types = columns.stream().map(c -> table.columns().get(c).type()).toList();
    BoundQuery query = queries.bind(source, null, Expectation.of(types));
    requireCount(query.names().size(), columns.size(), source);
    RexNode[] row = new RexNode[table.columns().size()];
    for (int i = 0; i < query.names().size(); i++) {
      int column = columns.get(i);
      row[column] = assigned(context.rex.makeInputRef(query.rel(), i), table, column, source);
    }
    List<RexNode> complete = completed(row, table);
    return queries.project(query.rel(), complete, names(table), Set.of());
  }

  private void requireCount(int expressionCount, int columnCount, SqlNode at) {
    if (expressionCount > columnCount) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR, "INSERT has more expressions than target columns", at);
    }
    if (expressionCount < columnCount) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR, "INSERT has more target columns than expressions", at);
    }
  }

  private RelNode insertValues(SqlCall values, Table table, List<Integer> columns) {
    Scope scope = new Scope(null);
    scope.clause = "VALUES";
    RelNode oneRow = queries.oneRow();
    scope.rowType = oneRow.getRowType();
    List<List<RexNode>> rows = new ArrayList<>();
    int width = -1;
    boolean subquery = false;
    for (SqlNode node : values.getOperandList()) {
      List<SqlNode> row = ((SqlCall) node).getOperandList();
      if (width >= 0 && row.size() != width) {
        throw context.error(
            ErrorCode.SYNTAX_ERROR, "VALUES lists must all be the same length", node);
      }
      width = row.size();
      boolean allDefault = width == 1 && isDefault(row.getFirst());
      if (width > columns.size()
          || (!allDefault && width < columns.size() && explicit(columns, table))) {
        requireCount(width, columns.size(), node);
      }
      RexNode[] complete = new RexNode[table.columns().size()];
      for (int i = 0; i < width; i++) {
        int column = columns.get(i);
        complete[column] = assigned(expressions.bind(row.get(i), scope), table, column, row.get(i));
        subquery |= Grouping.hasSubquery(complete[column]);
      }
      rows.add(completed(complete, table));
    }
    if (subquery) {
      List<RelNode> inputs = new ArrayList<>();
      for (List<RexNode> row : rows) {
        inputs.add(queries.project(oneRow, row, names(table), scope.correlations));
      }
      return inputs.size() == 1
          ? inputs.getFirst()
          : org.apache.calcite.rel.logical.LogicalUnion.create(inputs, true);
    }
    RelDataType rowType =
        context.types.createStructType(
            table.columns().stream().map(c -> context.types.of(c.type(), true)).toList(),
            names(table));
    return new ExpressionRows(context.cluster, rowType, rows);
  }

  /// Whether the statement named its columns; without a list fewer values than columns are allowed.
  private static boolean explicit(List<Integer> columns, Table table) {
    return columns.size() != table.columns().size();
  }

  private static List<String> names(Table table) {
    return table.columns().stream().map(Column::name).toList();
  }

  private static boolean isDefault(SqlNode node) {
    return node instanceof SqlCall call
        && (call.getKind() == SqlKind.DEFAULT
            || call.getOperator().getName().equals(Rewriter.DEFAULT_CALL));
  }

  private List<RexNode> completed(RexNode[] row, Table table) {
    List<RexNode> complete = new ArrayList<>();
    for (int i = 0; i < row.length; i++) {
      complete.add(row[i] == null ? defaultValue(table, i) : row[i]);
    }
    return complete;
  }

  private RexNode defaultValue(Table table, int column) {
    String text = table.columns().get(column).defaultText();
    SqlType type = table.columns().get(column).type();
    if (text == null) {
      return expressions.coercion.constant(Constant.ofNull(type));
    }
    Source saved = context.source;
    Source source = Rewriter.rewriteExpression(text);
    context.source = source;
    try {
      SqlNode node = SqlFront.parseExpression(source);
      Scope scope = new Scope(null);
      scope.clause = "DEFAULT expressions";
      return assigned(expressions.bind(node, scope), table, column, node);
    } finally {
      context.source = saved;
    }
  }

  /// The value as the column's exact type; the column's default for DEFAULT.
  @SuppressWarnings("ReferenceEquality") // the operator is a singleton
  private RexNode assigned(RexNode value, Table table, int column, SqlNode at) {
    if (value instanceof RexCall call && call.getOperator() == PgOperators.DEFAULT) {
      return defaultValue(table, column);
    }
    Column target = table.columns().get(column);
    RexNode converted;
    try {
      converted = expressions.coercion.convert(value, target.type(), CastContext.ASSIGNMENT);
    } catch (EngineException refused) {
      throw refused.position() == 0 ? refused.withPosition(context.position(at)) : refused;
    }
    if (converted == null) {
      throw context
          .error(
              ErrorCode.DATATYPE_MISMATCH,
              "column \""
                  + target.name()
                  + "\" is of type "
                  + Types.name(target.type().oid())
                  + " but expression is of type "
                  + Types.name(Coercion.oidOf(value)),
              at)
          .withHint("You will need to rewrite or cast the expression.");
    }
    return converted;
  }

  private Returning returning(Table table, String alias) {
    Source source = returning;
    if (source == null) {
      return Returning.NONE;
    }
    context.source = source;
    SqlSelect select = (SqlSelect) SqlFront.parse(source);
    Scope scope = tableScope(table, alias);
    scope.clause = "RETURNING";
    List<Expr> result = new ArrayList<>();
    List<Statement.Column> columns = new ArrayList<>();
    for (SqlNode node : select.getSelectList()) {
      if (node instanceof SqlIdentifier identifier && identifier.isStar()) {
        for (Scope.Field field : scope.fields) {
          add(field.expression(), field.name(), result, columns);
        }
        continue;
      }
      boolean named = node.getKind() == SqlKind.AS;
      SqlNode expression = named ? ((SqlCall) node).operand(0) : node;
      String name =
          named
              ? ((SqlIdentifier) ((SqlCall) node).operand(1)).getSimple()
              : SelectBinder.defaultName(expression);
      RexNode bound = expressions.bindTyped(expression, scope);
      if (Grouping.hasSubquery(bound)) {
        throw expressions.unsupported(expression, "subquery in RETURNING");
      }
      add(bound, name, result, columns);
    }
    return new Returning(result, columns);
  }

  private static void add(
      RexNode node, String name, List<Expr> result, List<Statement.Column> columns) {
    SqlType type = Coercion.typeOf(node);
    result.add(ExprTranslator.translate(node));
    columns.add(new Statement.Column(name, type.oid(), type.typeModifier()));
  }
}
