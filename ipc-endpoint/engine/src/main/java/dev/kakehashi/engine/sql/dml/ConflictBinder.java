package dev.kakehashi.engine.sql.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Conflict;
import dev.kakehashi.engine.sql.parser.ParsedStatement.ConflictNothing;
import dev.kakehashi.engine.sql.parser.ParsedStatement.ConflictSelect;
import dev.kakehashi.engine.sql.parser.ParsedStatement.ConflictUpdate;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.table.AssignmentBinder;
import dev.kakehashi.engine.sql.table.IndexConditions;
import dev.kakehashi.engine.sql.table.TableExpressions;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.FunctionCalls;
import dev.kakehashi.engine.sql.typing.RelationUse;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.validate.SqlValidatorUtil;
import org.jspecify.annotations.Nullable;

/// Binds ON CONFLICT.
///
/// Subqueries of DO UPDATE and DO SELECT are evaluated for every row that is to be inserted, joined with the row that has its key, if
/// there is one: they become columns of the statement's source. A row that comes with the key later is a conflict of the transaction, after
/// which the statement begins again, or fails.
final class ConflictBinder {
  private static final String EXCLUDED = "excluded";

  /// ON CONFLICT, and the rows to insert with what it needs beside them.
  record Bound(PhysicalPlan.@Nullable OnConflict conflict, RelNode source) {}

  private final BindContext context;
  private final QueryBinder queries;
  private final AssignmentBinder assignments;

  ConflictBinder(QueryBinder queries, AssignmentBinder assignments) {
    this.context = queries.context;
    this.queries = queries;
    this.assignments = assignments;
  }

  /// @param source the rows to insert
  /// @param use gets what is read and changed of the table
  Bound bind(
      @Nullable Conflict conflict,
      Table table,
      String alias,
      RelNode source,
      @Nullable Scope parent,
      RelationUse use) {
    if (conflict == null) {
      return new Bound(null, source);
    }
    List<Index> arbiters = arbiters(conflict, table, alias, use);
    Set<Long> numbers = new HashSet<>();
    arbiters.forEach(index -> numbers.add(index.indexId()));
    if (conflict.action() instanceof ConflictNothing) {
      return new Bound(
          new PhysicalPlan.OnConflict(numbers, new PhysicalPlan.LeaveExisting(), 0), source);
    }
    String clause =
        "ON CONFLICT DO " + (conflict.action() instanceof ConflictSelect ? "SELECT" : "UPDATE");
    int count = table.columns().size();
    RelNode existing =
        LogicalTableScan.create(context.cluster, context.catalogTable(table), List.of());
    RelDataType both =
        SqlValidatorUtil.deriveJoinRowType(
            existing.getRowType(),
            source.getRowType(),
            JoinRelType.RIGHT,
            context.types,
            null,
            List.of());
    Scope scope = new Scope(parent, clause);
    scope.rowType = both;
    addFields(scope, table, alias, 0, both, use);
    addFields(scope, table, EXCLUDED, count, both, use);
    Subqueries subqueries = new Subqueries(both);
    PhysicalPlan.ConflictAction action = action(conflict, table, scope, use, subqueries);
    PhysicalPlan.OnConflict bound =
        new PhysicalPlan.OnConflict(numbers, action, subqueries.found.size());
    if (subqueries.found.isEmpty()) {
      return new Bound(bound, source);
    }
    if (!arbiters.getFirst().predicate().isEmpty()) {
      throw ExprTranslator.unsupported("subquery in " + clause + " with a partial index");
    }
    RelNode joined =
        LogicalJoin.create(
            existing,
            source,
            List.of(),
            sameKey(arbiters.getFirst(), scope, count),
            Set.of(),
            JoinRelType.RIGHT);
    return new Bound(bound, computed(joined, count, subqueries.found, scope));
  }

  private PhysicalPlan.ConflictAction action(
      Conflict conflict, Table table, Scope scope, RelationUse use, Subqueries subqueries) {
    return switch (conflict.action()) {
      case ConflictNothing nothing -> new PhysicalPlan.LeaveExisting();
      case ConflictSelect select -> {
        use.require(Privilege.SELECT);
        if (select.lock() != null) {
          use.require(Privilege.UPDATE);
        }
        yield new PhysicalPlan.SelectExisting(
            select.lock(), subqueries.translated(condition(select.where(), scope)));
      }
      case ConflictUpdate update -> {
        use.require(Privilege.UPDATE);
        @Nullable RexNode[] set = assignments.assignments(update.assignments(), table, scope, use);
        RexNode where = condition(update.where(), scope);
        List<Expr> values = new ArrayList<>();
        for (int i = 0; i < set.length; i++) {
          RexNode value = set[i] == null ? scope.fields.get(i).expression() : set[i];
          values.add(ExprTranslator.translate(subqueries.replaced(value)));
        }
        yield new PhysicalPlan.UpdateExisting(values, subqueries.translated(where));
      }
    };
  }

  private void addFields(
      Scope scope, Table table, String alias, int first, RelDataType rowType, RelationUse use) {
    for (int i = 0; i < table.columns().size(); i++) {
      scope.fields.add(
          new Scope.Field(
                  alias,
                  alias.equals(table.name()) ? table.schema() : null,
                  table.columns().get(i).name(),
                  context.rex.makeInputRef(
                      rowType.getFieldList().get(first + i).getType(), first + i),
                  false)
              .of(new Scope.Origin(use, i)));
    }
  }

  private @Nullable RexNode condition(@Nullable Source where, Scope scope) {
    return where == null
        ? null
        : context.within(
            where,
            () ->
                queries.expressions.bindCondition(
                    CalciteParser.parseExpression(where), scope, "argument of WHERE"));
  }

  private RexNode sameKey(Index index, Scope scope, int count) {
    SqlNode at = new SqlIdentifier("", SqlParserPos.ZERO);
    List<RexNode> terms = new ArrayList<>();
    FunctionCalls calls = queries.expressions.calls;
    for (int column : index.columns()) {
      RexNode existing = scope.fields.get(column).expression();
      RexNode inserted = scope.fields.get(count + column).expression();
      terms.add(
          index.nullsNotDistinct()
              ? calls.distinct(existing, inserted, false, at)
              : calls.comparison(SqlKind.EQUALS, existing, inserted, at));
    }
    return RexUtil.composeConjunction(context.rex, terms);
  }

  /// The rows to insert, then the subqueries.
  private RelNode computed(RelNode joined, int count, List<RexNode> subqueries, Scope scope) {
    List<RexNode> columns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      columns.add(context.rex.makeInputRef(joined, count + i));
    }
    columns.addAll(subqueries);
    List<String> names = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      names.add("c" + i);
    }
    return queries.project(joined, columns, names, scope.correlations());
  }

  /// Takes the subqueries out of expressions; columns behind both rows stand for them.
  private final class Subqueries extends RexShuttle {
    private final int first;
    private final List<RexNode> found = new ArrayList<>();

    Subqueries(RelDataType both) {
      this.first = both.getFieldCount();
    }

    RexNode replaced(RexNode node) {
      return node.accept(this);
    }

    @Nullable Expr translated(@Nullable RexNode node) {
      return node == null ? null : ExprTranslator.translate(replaced(node));
    }

    @Override
    public RexNode visitSubQuery(RexSubQuery subquery) {
      found.add(subquery);
      return context.rex.makeInputRef(subquery.getType(), first + found.size() - 1);
    }
  }

  /// Unique indexes that ON CONFLICT is about.
  private List<Index> arbiters(Conflict conflict, Table table, String alias, RelationUse use) {
    List<Index> indexes = new ArrayList<>();
    QualifiedName constraint = conflict.constraint();
    List<QualifiedName> names = conflict.columns();
    Set<Integer> wanted = new HashSet<>();
    if (names != null) {
      names.forEach(name -> wanted.add(AssignmentBinder.column(table, name)));
      wanted.forEach(use::read);
    }
    Expr predicate = inference(conflict, table, alias, wanted, use);
    for (Index index : table.indexes()) {
      boolean meant =
          constraint != null
              ? index.name().equals(constraint.name()) && index.predicate().isEmpty()
              : names == null
                  || (sameElements(index, wanted, table)
                      && IndexConditions.isImplied(index, table, predicate));
      if (index.deferrable() && meant) {
        throw new EngineException(
                ErrorCode.NOT_IN_PREREQUISITE_STATE,
                "ON CONFLICT does not support deferrable unique constraints as arbiters")
            .withTable(table.schema(), table.name())
            .withConstraint(index.name());
      }
      if (index.unique() && meant) {
        indexes.add(index);
        if (constraint != null) {
          index.columns().forEach(use::read);
        }
      }
    }
    if (indexes.isEmpty() && constraint != null) {
      throw new EngineException(
              ErrorCode.UNDEFINED_OBJECT,
              "constraint \""
                  + constraint.name()
                  + "\" for table \""
                  + table.name()
                  + "\" does not exist")
          .withPosition(constraint.position());
    }
    if (indexes.isEmpty() && names != null) {
      throw new EngineException(
              ErrorCode.INVALID_COLUMN_REFERENCE,
              "there is no unique or exclusion constraint matching the ON CONFLICT specification")
          .withPosition(conflict.targetPosition());
    }
    return indexes;
  }

  /// Whether an index is over what ON CONFLICT names. Several indexes over one expression have a hidden column each.
  private boolean sameElements(Index index, Set<Integer> wanted, Table table) {
    Set<Integer> elements = new HashSet<>();
    for (int column : index.columns()) {
      elements.add(
          table.columns().get(column).hidden()
              ? indexedColumn(
                  TableExpressions.indexed(context.catalogTable(table)).get(column), table)
              : column);
    }
    return elements.equals(wanted);
  }

  /// The first hidden column with the values of an expression, or its column; -1: there is none.
  private int indexedColumn(@Nullable RexNode expression, Table table) {
    if (expression instanceof RexInputRef reference) {
      return reference.getIndex();
    }
    return TableExpressions.indexed(context.catalogTable(table)).entrySet().stream()
        .filter(indexed -> indexed.getValue().equals(expression))
        .mapToInt(Map.Entry::getKey)
        .findFirst()
        .orElse(-1);
  }

  /// Looks at the expressions of an inference clause.
  ///
  /// @return its predicate; an index of the whole table satisfies any, as in PostgreSQL
  private @Nullable Expr inference(
      Conflict conflict, Table table, String alias, Set<Integer> wanted, RelationUse use) {
    Scope scope = new Scope(null, "index expressions");
    RelDataType rowType = context.catalogTable(table).getRowType();
    scope.rowType = rowType;
    addFields(scope, table, alias, 0, rowType, use);
    for (Source expression : conflict.expressions()) {
      RexNode bound =
          context.within(
              expression,
              () ->
                  queries.expressions.bindTyped(CalciteParser.parseExpression(expression), scope));
      wanted.add(indexedColumn(bound, table));
    }
    scope.begin("index predicates");
    RexNode predicate = condition(conflict.predicate(), scope);
    return predicate == null ? null : ExprTranslator.translate(predicate);
  }
}
