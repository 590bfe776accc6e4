package dev.kakehashi.engine.sql.table;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Sequence;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.References;
import dev.kakehashi.engine.sql.algebra.Constant;
import dev.kakehashi.engine.sql.algebra.Inspection;
import dev.kakehashi.engine.sql.algebra.PgOperators;
import dev.kakehashi.engine.sql.algebra.PgType;
import dev.kakehashi.engine.sql.binder.ElementAssignment;
import dev.kakehashi.engine.sql.binder.ExpressionBinder;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.lexer.QualifiedName;
import dev.kakehashi.engine.sql.parser.ParsedStatement;
import dev.kakehashi.engine.sql.parser.ParsedStatement.Assignment;
import dev.kakehashi.engine.sql.spelling.CalciteParser;
import dev.kakehashi.engine.sql.spelling.Source;
import dev.kakehashi.engine.sql.spelling.SpellingTranslator;
import dev.kakehashi.engine.sql.table.ReturningBinder.Returning;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.RelationUse;
import dev.kakehashi.engine.type.CastContext;
import dev.kakehashi.engine.type.SqlType;
import dev.kakehashi.engine.type.Types;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Common parts of INSERT, UPDATE, DELETE and MERGE: the table, assignments with the columns' exact types and defaults, RETURNING.
public final class AssignmentBinder {
  private final BindContext context;
  private final QueryBinder queries;
  private final ExpressionBinder expressions;

  public AssignmentBinder(QueryBinder queries) {
    this.context = queries.context;
    this.queries = queries;
    this.expressions = queries.expressions;
  }

  public Table table(QualifiedName name) {
    Table table = queries.from.table(name.schema(), name.name(), name.position());
    if (table.isSystem()) {
      throw new EngineException(
              ErrorCode.WRONG_OBJECT_TYPE, "cannot change system table \"" + table.name() + "\"")
          .withPosition(name.position());
    }
    return table;
  }

  /// The table as target of a statement's rows, with its constraints.
  public PhysicalPlan.Target target(Table table) {
    References references =
        ReferenceBinder.of(table, context.catalog, each -> target(each, null), context.objects);
    return target(table, references);
  }

  private PhysicalPlan.Target target(Table table, @Nullable References references) {
    int count = table.columns().size();
    int[] oids = new int[count];
    boolean[] notNull = new boolean[count];
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Column column = table.columns().get(i);
      oids[i] = column.type().oid();
      notNull[i] = column.notNull();
      names.add(column.shownName());
    }
    return new PhysicalPlan.Target(
        table.tableId(),
        table.schema(),
        table.name(),
        names,
        oids,
        notNull,
        TableExpressions.checks(table, queries),
        references,
        TableExpressions.generations(table, queries),
        ReferenceBinder.deferrableKeys(table));
  }

  public static int column(Table table, QualifiedName name) {
    // `a.b` would be a field of a column of a composite type.
    String wanted = name.schema() == null ? name.name() : name.schema();
    int column = name.schema() == null ? table.columnIndex(wanted) : -1;
    if (column < 0) {
      throw new EngineException(
              ErrorCode.UNDEFINED_COLUMN,
              "column \"" + wanted + "\" of relation \"" + table.name() + "\" does not exist")
          .withPosition(name.position());
    }
    return column;
  }

  /// A scope with the table's columns as input fields from `first` on.
  public Scope.Field field(Table table, String alias, int column, int index) {
    RelDataType rowType = context.catalogTable(table).getRowType();
    return new Scope.Field(
        alias,
        alias.equals(table.name()) ? table.schema() : null,
        table.columns().get(column).name(),
        context.rex.makeInputRef(rowType.getFieldList().get(column).getType(), index),
        false);
  }

  /// New values of the columns that SET names; null for the others.
  ///
  /// @param use gets which these are
  public @Nullable RexNode[] assignments(
      List<Assignment> assignments, Table table, Scope scope, RelationUse use) {
    @Nullable RexNode[] values = new @Nullable RexNode[table.columns().size()];
    Setting setting = new Setting(table, scope, values, new BitSet());
    for (Assignment assignment : assignments) {
      context.within(
          assignment.value(),
          () -> {
            assign(assignment, setting);
            return values;
          });
    }
    for (int i = 0; i < values.length; i++) {
      if (values[i] != null) {
        use.update(i);
      }
    }
    return values;
  }

  /// Columns that a statement sets.
  ///
  /// @param scope begins with the table's columns
  /// @param values of the columns that have come so far
  /// @param inParts columns of which elements have come so far
  private record Setting(Table table, Scope scope, @Nullable RexNode[] values, BitSet inParts) {}

  private void assign(Assignment assignment, Setting setting) {
    List<QualifiedName> columns = assignment.columns();
    List<@Nullable Source> elements = assignment.elements();
    SqlNode node = CalciteParser.parseExpression(assignment.value());
    if (!assignment.multiple()) {
      RexNode value = expressions.bind(node, setting.scope);
      set(columns.getFirst(), elements.getFirst(), value, node, setting);
      return;
    }
    List<RexNode> row = row(node, columns.size(), setting.scope);
    if (row.size() != columns.size()) {
      throw context.error(
          ErrorCode.SYNTAX_ERROR, "number of columns does not match number of values", node);
    }
    for (int i = 0; i < row.size(); i++) {
      set(columns.get(i), elements.get(i), row.get(i), node, setting);
    }
  }

  /// Values of `(a, b) = row`: an expression each, or the columns of a subquery.
  private List<RexNode> row(SqlNode node, int count, Scope scope) {
    List<RexNode> row = new ArrayList<>();
    if (node.getKind() == SqlKind.ROW) {
      for (SqlNode operand : ((SqlCall) node).getOperandList()) {
        row.add(expressions.bind(operand, scope));
      }
      return row;
    }
    if (!node.isA(SqlKind.QUERY)) {
      if (count == 1) {
        return List.of(expressions.bind(node, scope));
      }
      throw expressions.unsupported(node, "a source of several columns that is no row or subquery");
    }
    return queries.subqueries.columns(node, scope);
  }

  private void set(
      QualifiedName name, @Nullable Source element, RexNode value, SqlNode at, Setting setting) {
    Table table = setting.table;
    @Nullable RexNode[] values = setting.values;
    int column = column(table, name);
    if (values[column] != null && (element == null || !setting.inParts.get(column))) {
      throw new EngineException(
              ErrorCode.SYNTAX_ERROR, "multiple assignments to same column \"" + name.name() + "\"")
          .withPosition(name.position());
    }
    if (!isDefault(value) && (isAlwaysGenerated(table, column) || isComputed(table, column))) {
      throw generatedAlways(table, column, "column \"%s\" can only be updated to DEFAULT");
    }
    if (element == null) {
      values[column] = assigned(value, table, column, at);
      return;
    }
    if (isDefault(value)) {
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED, "cannot set an array element to DEFAULT")
          .withPosition(name.position());
    }
    RexNode before = values[column];
    RexNode old = before == null ? setting.scope.fields.get(column).expression() : before;
    setting.inParts.set(column);
    values[column] =
        context.within(
            element,
            () ->
                new ElementAssignment(expressions)
                    .assigned(
                        CalciteParser.parseExpression(element),
                        old,
                        value,
                        table.columns().get(column),
                        setting.scope));
  }

  private static boolean isAlwaysGenerated(Table table, int column) {
    Column.Owned identity = table.columns().get(column).identity();
    return identity != null && identity.generated() == Column.Generated.ALWAYS;
  }

  private static boolean isComputed(Table table, int column) {
    return table.columns().get(column).generation() != null;
  }

  private static EngineException generatedAlways(Table table, int column, String message) {
    String name = table.columns().get(column).name();
    return new EngineException(ErrorCode.GENERATED_ALWAYS, message.formatted(name))
        .withDetail(
            isComputed(table, column)
                ? "Column \"" + name + "\" is a generated column."
                : "Column \"" + name + "\" is an identity column defined as GENERATED ALWAYS.");
  }

  private static boolean isDefault(RexNode value) {
    return PgOperators.is(value, PgOperators.DEFAULT);
  }

  /// A value that INSERT gives for a column: what OVERRIDING says of identity columns, then as [#assigned].
  public RexNode inserted(
      RexNode value, Table table, int column, ParsedStatement.Overriding overriding, SqlNode at) {
    if (isComputed(table, column) && !isDefault(value)) {
      throw generatedAlways(table, column, "cannot insert a non-DEFAULT value into column \"%s\"");
    }
    if (table.columns().get(column).identity() != null && !isDefault(value)) {
      if (overriding == ParsedStatement.Overriding.USER) {
        return defaultValue(table, column);
      }
      if (isAlwaysGenerated(table, column) && overriding == ParsedStatement.Overriding.NOTHING) {
        throw generatedAlways(table, column, "cannot insert a non-DEFAULT value into column \"%s\"")
            .withHint("Use OVERRIDING SYSTEM VALUE to override.");
      }
    }
    return assigned(value, table, column, at);
  }

  /// The row with the defaults of the columns that have no value.
  public List<RexNode> completed(@Nullable RexNode[] row, Table table) {
    List<RexNode> complete = new ArrayList<>();
    for (int i = 0; i < row.length; i++) {
      RexNode value = row[i];
      complete.add(value == null ? defaultValue(table, i) : value);
    }
    return complete;
  }

  /// For a generated column null: its value is computed when the others are known.
  private RexNode defaultValue(Table table, int column) {
    Column.Owned identity = table.columns().get(column).identity();
    if (identity != null) {
      Sequence sequence =
          java.util.Objects.requireNonNull(context.catalog.sequence(identity.sequenceId()));
      return java.util.Objects.requireNonNull(
          expressions.coercion.convert(
              expressions.sequences.next(sequence),
              table.columns().get(column).type(),
              CastContext.ASSIGNMENT));
    }
    String text = table.columns().get(column).defaultText();
    if (text == null) {
      SqlType type = table.columns().get(column).type();
      return expressions.coercion.constant(Constant.ofNull(type));
    }
    Source source = SpellingTranslator.translateExpression(text);
    return context.withinStored(
        source,
        () -> {
          SqlNode node = CalciteParser.parseExpression(source);
          Scope scope = new Scope(null, "DEFAULT expressions");
          return assigned(expressions.bind(node, scope), table, column, node);
        });
  }

  /// The value as the column's exact type; the column's default for DEFAULT.
  RexNode assigned(RexNode value, Table table, int column, SqlNode at) {
    if (isDefault(value)) {
      return defaultValue(table, column);
    }
    return converted(value, table.columns().get(column), at);
  }

  /// The value as the column's exact type.
  RexNode converted(RexNode value, Column target, SqlNode at) {
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
                  + Types.name(PgType.oidOf(value)),
              at)
          .withHint("You will need to rewrite or cast the expression.");
    }
    return converted;
  }

  /// @param scope the columns of the changed row, then those of the other tables
  /// @param versions what OLD and NEW are
  public Returning returning(
      ParsedStatement.@Nullable ReturningClause clause,
      Scope scope,
      ReturningBinder.Versions versions) {
    return new ReturningBinder(queries).bind(clause, scope, versions);
  }

  public static boolean hasSubquery(@Nullable RexNode node) {
    return node != null && (Inspection.hasSubquery(node) || node instanceof RexSubQuery);
  }

  public static List<String> names(Table table) {
    return table.columns().stream().map(Column::name).toList();
  }

  /// Whether a name in a select list is one of all columns.
  static boolean isStar(SqlNode node) {
    return node instanceof SqlIdentifier identifier && identifier.isStar();
  }
}
