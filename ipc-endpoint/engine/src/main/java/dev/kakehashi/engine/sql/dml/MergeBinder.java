package dev.kakehashi.engine.sql.dml;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PhysicalPlan.MergeKind;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.ExprTranslator;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.algebra.RowShift;
import dev.kakehashi.engine.sql.binder.FromBinder.From;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.optimizer.Optimizer;
import dev.kakehashi.engine.sql.parser.ParsedStatement;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Match;
import dev.kakehashi.engine.sql.parser.ParsedStatement.When;
import dev.kakehashi.engine.sql.physical.PlanTranslator;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.table.AssignmentBinder;
import dev.kakehashi.engine.sql.table.ReturningBinder;
import dev.kakehashi.engine.sql.table.TargetRows;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.RelationUse;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// Binds MERGE: an outer join of target and source whose rows say by a number which WHEN they are for.
final class MergeBinder {
  /// The clause of conditions of WHEN, for messages.
  private static final String WHEN = "MERGE WHEN conditions";

  private final BindContext context;
  private final QueryBinder queries;
  private final AssignmentBinder assignments;
  private final TargetRows targets;

  MergeBinder(QueryBinder queries, AssignmentBinder assignments, TargetRows targets) {
    this.context = queries.context;
    this.queries = queries;
    this.assignments = assignments;
    this.targets = targets;
  }

  /// Target and source joined.
  ///
  /// @param rel columns of the target, its row identifier, columns of the source, and whether there is a row of the source
  /// @param target its columns
  /// @param source its columns
  private record Rows(
      RelNode rel, List<Scope.Field> target, List<Scope.Field> source, @Nullable Scope parent) {
    int rowId() {
      return target.size();
    }

    int present() {
      return rel.getRowType().getFieldCount() - 1;
    }

    /// The columns that expressions of a WHEN may name.
    Scope scope(Match match, String clause) {
      return filled(match, new Scope(parent, clause));
    }

    /// The same; what subqueries refer to is noted in the scope of the statement.
    Scope beside(Match match, Scope all, String clause) {
      return filled(match, Scope.beside(all, clause));
    }

    private Scope filled(Match match, Scope scope) {
      if (match != Match.NOT_MATCHED_BY_TARGET) {
        scope.fields.addAll(target);
      }
      if (match != Match.NOT_MATCHED_BY_SOURCE) {
        scope.fields.addAll(source);
      }
      scope.rowType = rel.getRowType();
      return scope;
    }
  }

  /// A WHEN whose values are expressions over the joined rows.
  private record Clause(MergeKind kind, List<RexNode> values) {}

  DmlBinder.Planned merge(ParsedStatement.Merge merge, @Nullable Scope parent) {
    refuseUnreachable(merge.clauses());
    Table table = assignments.table(merge.target().table());
    RelationUse use = use(merge, table);
    Rows rows = rows(merge, table, parent, use);
    Scope scope = rows.scope(Match.MATCHED, WHEN);
    RexNode action = action(merge.clauses(), rows, scope);
    boolean returns = merge.returning() != null;
    List<Clause> clauses = new ArrayList<>();
    for (When when : merge.clauses()) {
      clauses.add(clause(when, table, rows, scope, returns, use));
    }
    return plan(merge, table, rows, scope, action, clauses);
  }

  /// Use of the table by the clauses.
  private RelationUse use(ParsedStatement.Merge merge, Table table) {
    RelationUse use = context.use(table.tableId());
    for (When when : merge.clauses()) {
      switch (when.action()) {
        case ParsedStatement.MergeNothing nothing -> {}
        case ParsedStatement.MergeDelete delete -> use.require(Privilege.DELETE);
        case ParsedStatement.MergeUpdate update -> use.require(Privilege.UPDATE);
        case ParsedStatement.MergeInsert insert -> use.require(Privilege.INSERT);
      }
    }
    return use;
  }

  private static void refuseUnreachable(List<When> clauses) {
    Set<Match> decided = EnumSet.noneOf(Match.class);
    for (When when : clauses) {
      if (decided.contains(when.match())) {
        throw new EngineException(
                ErrorCode.SYNTAX_ERROR,
                "unreachable WHEN clause specified after unconditional WHEN clause")
            .withPosition(when.position());
      }
      if (when.condition() == null) {
        decided.add(when.match());
      }
    }
  }

  private Rows rows(
      ParsedStatement.Merge merge, Table table, @Nullable Scope parent, RelationUse use) {
    From target = targets.table(table, merge.target().visibleName(), use);
    From source = context.within(merge.using(), () -> source(merge.using(), target, parent));
    Scope both = new Scope(parent, "JOIN conditions");
    both.fields.addAll(target.fields());
    both.fields.addAll(targets.moved(target, source));
    both.rowType =
        context.types.createJoinType(target.rel().getRowType(), source.rel().getRowType());
    RexNode condition =
        context.within(
            merge.condition(),
            () ->
                queries.expressions.bindCondition(
                    CalciteParser.parseExpression(merge.condition()), both, "argument of JOIN/ON"));
    From joined = targets.merged(target, source, condition, both, joinType(merge.clauses()));
    int columns = target.fields().size();
    return new Rows(
        joined.rel(),
        joined.fields().subList(0, columns),
        joined.fields().subList(columns, joined.fields().size()),
        parent);
  }

  /// The source with one more column, which is true in every row.
  private From source(Source text, From target, @Nullable Scope parent) {
    SqlNode node = Objects.requireNonNull(((SqlSelect) CalciteParser.parse(text)).getFrom());
    From source = queries.from.item(node, parent);
    queries.from.refuseDuplicateAliases(target.fields(), source.fields(), node);
    int columns = source.rel().getRowType().getFieldCount();
    List<RexNode> output = new ArrayList<>();
    for (int i = 0; i < columns; i++) {
      output.add(context.rex.makeInputRef(source.rel(), i));
    }
    output.add(context.rex.makeLiteral(true));
    List<String> names = new ArrayList<>(source.rel().getRowType().getFieldNames());
    names.add("kh present");
    return new From(
        queries.project(source.rel(), output, names, Set.of()), source.fields(), List.of());
  }

  private static JoinRelType joinType(List<When> clauses) {
    boolean unmatchedSource =
        clauses.stream().anyMatch(when -> when.match() == Match.NOT_MATCHED_BY_TARGET);
    boolean unmatchedTarget =
        clauses.stream().anyMatch(when -> when.match() == Match.NOT_MATCHED_BY_SOURCE);
    if (unmatchedSource) {
      return unmatchedTarget ? JoinRelType.FULL : JoinRelType.RIGHT;
    }
    return unmatchedTarget ? JoinRelType.LEFT : JoinRelType.INNER;
  }

  /// Number of the first WHEN that a row satisfies, from 1; 0 if there is none.
  private RexNode action(List<When> clauses, Rows rows, Scope scope) {
    List<RexNode> operands = new ArrayList<>();
    for (int i = 0; i < clauses.size(); i++) {
      operands.add(condition(clauses.get(i), rows, scope));
      operands.add(number(i + 1));
    }
    operands.add(number(0));
    return context.rex.makeCall(context.types.of(TypeOid.INT4, false), PgOperators.CASE, operands);
  }

  private RexNode number(int value) {
    return queries.expressions.coercion.constant(Constant.of(SqlType.of(TypeOid.INT4), value));
  }

  private RexNode condition(When when, Rows rows, Scope all) {
    RexNode hasTarget = isThere(rows, rows.rowId());
    RexNode hasSource = isThere(rows, rows.present());
    RexNode match =
        switch (when.match()) {
          case MATCHED -> context.rex.makeCall(SqlStdOperatorTable.AND, hasTarget, hasSource);
          case NOT_MATCHED_BY_TARGET -> context.rex.makeCall(SqlStdOperatorTable.NOT, hasTarget);
          case NOT_MATCHED_BY_SOURCE -> context.rex.makeCall(SqlStdOperatorTable.NOT, hasSource);
        };
    Source text = when.condition();
    if (text == null) {
      return match;
    }
    RexNode condition =
        context.within(
            text,
            () ->
                queries.expressions.bindCondition(
                    CalciteParser.parseExpression(text),
                    rows.beside(when.match(), all, WHEN),
                    "argument of WHEN"));
    // The condition may fail for rows that it is not about.
    return context.rex.makeCall(
        context.types.of(TypeOid.BOOL, true),
        PgOperators.CASE,
        List.of(match, condition, context.rex.makeLiteral(false)));
  }

  private RexNode isThere(Rows rows, int column) {
    return context.rex.makeCall(
        SqlStdOperatorTable.IS_NOT_NULL, context.rex.makeInputRef(rows.rel(), column));
  }

  private Clause clause(
      When when, Table table, Rows rows, Scope all, boolean returns, RelationUse use) {
    return switch (when.action()) {
      case ParsedStatement.MergeNothing nothing -> new Clause(MergeKind.NOTHING, List.of());
      case ParsedStatement.MergeDelete delete ->
          new Clause(MergeKind.DELETE, returns ? old(rows) : List.of());
      case ParsedStatement.MergeUpdate update -> {
        Scope scope = rows.beside(when.match(), all, "UPDATE");
        @Nullable RexNode[] set = assignments.assignments(update.assignments(), table, scope, use);
        List<RexNode> values = new ArrayList<>(old(rows));
        for (int i = 0; i < set.length; i++) {
          RexNode value = set[i];
          if (value != null) {
            values.set(i, value);
          }
        }
        yield new Clause(MergeKind.UPDATE, values);
      }
      case ParsedStatement.MergeInsert insert -> {
        Scope scope = rows.beside(when.match(), all, "VALUES");
        yield new Clause(MergeKind.INSERT, inserted(insert, table, scope, use));
      }
    };
  }

  private static List<RexNode> old(Rows rows) {
    return rows.target().stream().map(Scope.Field::expression).toList();
  }

  private List<RexNode> inserted(
      ParsedStatement.MergeInsert insert, Table table, Scope scope, RelationUse use) {
    List<Integer> columns = InsertBinder.targetColumns(table, insert.columns());
    @Nullable RexNode[] row = new @Nullable RexNode[table.columns().size()];
    Source text = insert.row();
    if (text != null) {
      context.within(
          text,
          () -> {
            assign((SqlCall) CalciteParser.parse(text), insert, columns, table, scope, row);
            return row;
          });
    }
    for (int i = 0; i < row.length; i++) {
      if (row[i] != null) {
        use.insert(i);
      }
    }
    return assignments.completed(row, table);
  }

  private void assign(
      SqlCall values,
      ParsedStatement.MergeInsert insert,
      List<Integer> columns,
      Table table,
      Scope scope,
      @Nullable RexNode[] row) {
    if (values.operandCount() > 1) {
      throw context.error(ErrorCode.SYNTAX_ERROR, "syntax error", values.operand(1));
    }
    List<SqlNode> nodes = ((SqlCall) values.operand(0)).getOperandList();
    if (nodes.size() > columns.size()
        || (nodes.size() < columns.size() && !insert.columns().isEmpty())) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR,
          nodes.size() > columns.size()
              ? "INSERT has more expressions than target columns"
              : "INSERT has more target columns than expressions",
          values);
    }
    for (int i = 0; i < nodes.size(); i++) {
      RexNode bound = queries.expressions.bind(nodes.get(i), scope);
      row[columns.get(i)] =
          assignments.inserted(bound, table, columns.get(i), insert.overriding(), nodes.get(i));
    }
  }

  // ---- the plan ----

  /// Output of the plan's source: row identifier, action, the columns that are needed, values of subqueries.
  private final class Output {
    final Rows rows;
    final List<RexNode> columns = new ArrayList<>();
    private final int[] positions;

    Output(Rows rows, RexNode action, ImmutableBitSet needed) {
      this.rows = rows;
      this.positions = new int[rows.rel().getRowType().getFieldCount()];
      columns.add(context.rex.makeInputRef(rows.rel(), rows.rowId()));
      columns.add(action);
      for (int column : needed) {
        positions[column] = columns.size();
        columns.add(context.rex.makeInputRef(rows.rel(), column));
      }
    }

    /// An expression over the joined rows as one over the output.
    Expr translate(RexNode node) {
      return ExprTranslator.translate(moved(node, 0));
    }

    RexNode moved(RexNode node, int first) {
      return RowShift.apply(node, context.rex, column -> positions[column] + first);
    }

    /// A value that is computed below, for the rows of a clause only.
    Expr computed(RexNode value, RexNode applies) {
      columns.add(
          context.rex.makeCall(
              context.types.createTypeWithNullability(value.getType(), true),
              PgOperators.CASE,
              List.of(
                  applies,
                  value,
                  queries.expressions.coercion.constant(Constant.ofNull(PgType.of(value))))));
      return new Expr.Column(columns.size() - 1, PgType.oidOf(value));
    }
  }

  private static final int ROW_ID = 0;
  private static final int ACTION = 1;

  private DmlBinder.Planned plan(
      ParsedStatement.Merge merge,
      Table table,
      Rows rows,
      Scope scope,
      RexNode action,
      List<Clause> clauses) {
    boolean returns = merge.returning() != null;
    boolean returnsBefore = merge.returnsVersions();
    Output output = new Output(rows, action, needed(rows, clauses, returns, returnsBefore));
    List<PhysicalPlan.MergeClause> planned = new ArrayList<>();
    for (int i = 0; i < clauses.size(); i++) {
      RexNode applies = context.rex.makeCall(SqlStdOperatorTable.EQUALS, action, number(i + 1));
      List<Expr> values = new ArrayList<>();
      for (RexNode value : clauses.get(i).values()) {
        values.add(
            AssignmentBinder.hasSubquery(value)
                ? output.computed(value, applies)
                : output.translate(value));
      }
      planned.add(new PhysicalPlan.MergeClause(clauses.get(i).kind(), values));
    }
    Scope changed = returningScope(output, table, clauses, scope.parent);
    ReturningBinder.Returning returning =
        assignments.returning(
            merge.returning(), changed, versions(output, table, clauses, changed, returnsBefore));
    List<String> names = new ArrayList<>();
    for (int i = 0; i < output.columns.size(); i++) {
      names.add("c" + i);
    }
    RelNode rel = queries.project(rows.rel(), output.columns, names, scope.correlations());
    PlanNode source = new PlanTranslator(context).translate(Optimizer.optimize(rel));
    return new DmlBinder.Planned(
        new PhysicalPlan.Merge(
            assignments.target(table), source, ROW_ID, ACTION, planned, returning.expressions()),
        returning);
  }

  private static ImmutableBitSet needed(
      Rows rows, List<Clause> clauses, boolean returns, boolean returnsBefore) {
    ImmutableBitSet.Builder needed = ImmutableBitSet.builder();
    for (Clause clause : clauses) {
      for (RexNode value : clause.values()) {
        if (!AssignmentBinder.hasSubquery(value)) {
          needed.addAll(RelOptUtil.InputFinder.bits(value));
        }
      }
    }
    if (returns) {
      rows.source()
          .forEach(field -> needed.addAll(RelOptUtil.InputFinder.bits(field.expression())));
    }
    if (returnsBefore) {
      rows.target()
          .forEach(field -> needed.addAll(RelOptUtil.InputFinder.bits(field.expression())));
    }
    return needed.build();
  }

  /// The row as it was is that of the join, which has none for rows that are inserted; none is left of deleted rows.
  private ReturningBinder.Versions versions(
      Output output, Table table, List<Clause> clauses, Scope changed, boolean returned) {
    int columns = table.columns().size();
    List<RexNode> before = new ArrayList<>();
    List<RexNode> after = new ArrayList<>();
    if (!returned) {
      return new ReturningBinder.Versions(before, after);
    }
    List<RexNode> absent = ReturningBinder.absent(changed, columns, queries);
    List<RexNode> written = ReturningBinder.version(changed, columns, 0, context);
    RexNode action =
        context.rex.makeInputRef(context.types.of(TypeOid.INT4, false), columns + ACTION);
    for (int c = 0; c < columns; c++) {
      before.add(output.moved(output.rows.target().get(c).expression(), columns));
      List<RexNode> operands = new ArrayList<>();
      for (int i = 0; i < clauses.size(); i++) {
        if (clauses.get(i).kind() == MergeKind.DELETE) {
          operands.add(context.rex.makeCall(SqlStdOperatorTable.EQUALS, action, number(i + 1)));
          operands.add(absent.get(c));
        }
      }
      operands.add(written.get(c));
      after.add(
          operands.size() == 1
              ? written.get(c)
              : context.rex.makeCall(written.get(c).getType(), PgOperators.CASE, operands));
    }
    return new ReturningBinder.Versions(before, after);
  }

  /// The changed row, then the columns of the source as the plan's source gives them.
  private Scope returningScope(
      Output output, Table table, List<Clause> clauses, @Nullable Scope parent) {
    int columns = table.columns().size();
    Scope scope = new Scope(parent);
    for (int i = 0; i < columns; i++) {
      Scope.Field field = output.rows.target().get(i);
      scope.fields.add(
          assignments.field(table, Objects.requireNonNull(field.alias()), i, i).of(field.origin()));
    }
    for (Scope.Field field : output.rows.source()) {
      scope.fields.add(
          new Scope.Field(
                  field.alias(),
                  field.schema(),
                  field.name(),
                  output.moved(field.expression(), columns),
                  field.merged())
              .of(field.origin()));
    }
    scope.rowType = context.catalogTable(table).getRowType();
    List<RexNode> operands = new ArrayList<>();
    RexNode action =
        context.rex.makeInputRef(context.types.of(TypeOid.INT4, false), columns + ACTION);
    for (int i = 0; i < clauses.size(); i++) {
      operands.add(context.rex.makeCall(SqlStdOperatorTable.EQUALS, action, number(i + 1)));
      operands.add(text(clauses.get(i).kind().name()));
    }
    operands.add(text(""));
    scope.mergeAction =
        context.rex.makeCall(context.types.of(TypeOid.TEXT, false), PgOperators.CASE, operands);
    return scope;
  }

  private RexNode text(String value) {
    return queries.expressions.coercion.constant(Constant.ofText(TypeOid.TEXT, value));
  }
}
