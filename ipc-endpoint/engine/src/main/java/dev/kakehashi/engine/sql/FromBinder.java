package dev.kakehashi.engine.sql;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalFilter;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.jspecify.annotations.Nullable;

/// Binds FROM clauses: tables, subqueries, joins.
final class FromBinder {
  /// A part of a FROM clause; expressions of `fields` are over `rel`.
  record From(RelNode rel, List<Scope.Field> fields, List<Scope.BaseTable> tables) {}

  private final BindContext context;
  private final QueryBinder queries;

  /// What the SELECT locks whose FROM is being bound.
  private @Nullable RowLocks locks;

  /// Whether the FROM clause that is being bound has named a recursive query whose recursive term it is in.
  private boolean recursive;

  FromBinder(BindContext context, QueryBinder queries) {
    this.context = context;
    this.queries = queries;
  }

  /// Fills `scope` with the columns of the FROM clause.
  RelNode bind(@Nullable SqlNode node, Scope scope) {
    if (node == null) {
      RelNode rel = queries.oneRow();
      scope.rowType = rel.getRowType();
      return rel;
    }
    RowLocks outer = locks;
    boolean outerRecursive = recursive;
    locks = scope.locks;
    recursive = false;
    try {
      RelNode rel = enter(item(node, scope.parent), scope);
      scope.recursive = recursive;
      return rel;
    } finally {
      locks = outer;
      recursive = outerRecursive;
    }
  }

  /// Makes the columns of `from` those of `scope`.
  RelNode enter(From from, Scope scope) {
    scope.fields.addAll(from.fields());
    scope.baseTables.addAll(from.tables());
    scope.rowType = from.rel().getRowType();
    return from.rel();
  }

  From item(SqlNode node, @Nullable Scope parent) {
    return switch (node.getKind()) {
      case JOIN -> join((SqlJoin) node, parent);
      case AS -> aliased((SqlCall) node, parent);
      case IDENTIFIER -> named((SqlIdentifier) node, null, parent);
      case COLLECTION_TABLE -> function((SqlCall) node, null, parent);
      case LATERAL -> derived(((SqlCall) node).operand(0), context.newAlias(), parent);
      case SELECT, UNION, INTERSECT, EXCEPT, VALUES, WITH, ORDER_BY, EXPLICIT_TABLE ->
          derived(node, context.newAlias(), parent);
      default ->
          throw context.error(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              node.getKind().lowerName + " in FROM is not supported",
              node);
    };
  }

  private From aliased(SqlCall call, @Nullable Scope parent) {
    SqlNode source = call.operand(0);
    String alias = ((SqlIdentifier) call.operand(1)).getSimple();
    From from =
        source instanceof SqlIdentifier table
            ? named(table, alias, parent)
            : source.getKind() == SqlKind.JOIN
                ? item(source, parent)
                : source.getKind() == SqlKind.COLLECTION_TABLE
                    ? function((SqlCall) source, alias, parent)
                    : derived(
                        source.getKind() == SqlKind.LATERAL
                            ? ((SqlCall) source).operand(0)
                            : source,
                        alias,
                        parent);
    if (call.operandCount() == 2) {
      return from;
    }
    List<Scope.Field> renamed = new ArrayList<>();
    for (int i = 0; i < from.fields().size(); i++) {
      Scope.Field field = from.fields().get(i);
      String name =
          i + 2 < call.operandCount()
              ? ((SqlIdentifier) call.operand(i + 2)).getSimple()
              : field.name();
      renamed.add(new Scope.Field(field.alias(), field.schema(), name, field.expression(), false));
    }
    if (call.operandCount() - 2 > renamed.size()) {
      throw context.error(
          ErrorCode.INVALID_COLUMN_REFERENCE,
          "table \""
              + alias
              + "\" has "
              + renamed.size()
              + " columns available but "
              + (call.operandCount() - 2)
              + " columns specified",
          call);
    }
    return new From(from.rel(), renamed, from.tables());
  }

  private From derived(SqlNode query, String alias, @Nullable Scope parent) {
    if (locks != null && locks.locks(alias)) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED, "FOR UPDATE of a subquery is not supported", query);
    }
    BoundQuery bound = queries.bind(query, parent, BoundQuery.Expectation.NONE);
    return from(bound.rel(), alias, null, bound.names(), List.of());
  }

  /// A function as a table, whose column has the name of the table unless it is given one.
  private From function(SqlCall table, @Nullable String alias, @Nullable Scope parent) {
    String name = alias == null ? RowFunctionBinder.name(table) : alias;
    if (locks != null && locks.tables().contains(name)) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED, "FOR UPDATE cannot be applied to a function", table);
    }
    RelNode rel = new RowFunctionBinder(context, queries.expressions).bind(table, name, parent);
    return from(rel, name, null, RowFunctionBinder.columns(table, name), List.of());
  }

  private From named(SqlIdentifier identifier, @Nullable String alias, @Nullable Scope parent) {
    if (identifier.isSimple() && parent != null) {
      Scope.CommonTable common = parent.commonTable(identifier.getSimple());
      if (common != null) {
        return commonTable(common, alias == null ? common.name() : alias, identifier);
      }
    }
    View view = view(identifier);
    if (view != null) {
      String visible = alias == null ? view.name() : alias;
      if (locks != null && locks.locks(visible)) {
        throw context.error(
            ErrorCode.FEATURE_NOT_SUPPORTED, "FOR UPDATE of a view is not supported", identifier);
      }
      BoundQuery bound = new ViewBinder(queries).bind(view);
      return from(
          bound.rel(), visible, alias == null ? view.schema() : null, bound.names(), List.of());
    }
    SampleClause sample = SampleClause.of(identifier);
    if (sample != null) {
      return sampled(table(SampleClause.tableOf(identifier)), sample, alias);
    }
    Table table = table(identifier);
    boolean locked = locks != null && locks.locks(alias == null ? table.name() : alias);
    if (locked && table.isSystem()) {
      throw RowLocks.notAllowed("system tables");
    }
    RelNode scan =
        LogicalTableScan.create(
            context.cluster,
            locked ? CatalogTable.withRowId(table, context) : CatalogTable.of(table, context),
            List.of());
    List<String> names = table.columns().stream().map(c -> c.name()).toList();
    return from(
        scan,
        alias == null ? table.name() : alias,
        alias == null ? table.schema() : null,
        names,
        List.of(new Scope.BaseTable(table, 0, locked)));
  }

  private From sampled(Table table, SampleClause sample, @Nullable String alias) {
    if (table.isSystem()) {
      throw new EngineException(
          ErrorCode.SYNTAX_ERROR,
          "TABLESAMPLE clause can only be applied to tables and materialized views");
    }
    if (locks != null && locks.locks(alias == null ? table.name() : alias)) {
      throw RowLocks.notAllowed("TABLESAMPLE");
    }
    return from(
        new SampledRows(context.cluster, CatalogTable.of(table, context), sample),
        alias == null ? table.name() : alias,
        alias == null ? table.schema() : null,
        table.columns().stream().map(c -> c.name()).toList(),
        List.of());
  }

  private From commonTable(Scope.CommonTable common, String alias, SqlNode at) {
    if (locks != null && locks.tables().contains(alias)) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED, "FOR UPDATE cannot be applied to a WITH query", at);
    }
    BoundQuery bound = rows(common, at);
    List<String> names = new ArrayList<>(bound.names());
    if (common.columns().size() > names.size()) {
      throw context.error(
          ErrorCode.INVALID_COLUMN_REFERENCE,
          "WITH query \""
              + common.name()
              + "\" has "
              + names.size()
              + " columns available but "
              + common.columns().size()
              + " columns specified",
          at);
    }
    for (int i = 0; i < common.columns().size(); i++) {
      names.set(i, common.columns().get(i));
    }
    return from(bound.rel(), alias, null, names, List.of());
  }

  private BoundQuery rows(Scope.CommonTable common, SqlNode at) {
    return switch (common) {
      case Scope.CommonQuery query -> rows(query, at);
      case Scope.CommonChange change -> returned(change, at);
    };
  }

  private BoundQuery returned(Scope.CommonChange change, SqlNode at) {
    if (change.binding()) {
      throw context.error(
          ErrorCode.INVALID_RECURSION,
          "recursive query \"" + change.name() + "\" must not contain data-modifying statements",
          at);
    }
    BoundQuery returned = change.returned();
    if (returned == null) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          "WITH query \"" + change.name() + "\" does not have a RETURNING clause",
          at);
    }
    return returned;
  }

  private BoundQuery rows(Scope.CommonQuery common, SqlNode at) {
    Scope.KeptRows kept = common.kept();
    if (kept != null) {
      return kept.read();
    }
    Scope.Recursion recursion = common.recursion();
    if (recursion == null) {
      return queries.commonTable(common);
    }
    if (recursion.work != null) {
      RecursionBinder.refuseMisplaced(common, recursion, at, context);
      recursive = true;
      return recursion.work;
    }
    if (recursion.binding) {
      throw context.error(
          ErrorCode.INVALID_RECURSION,
          "recursive reference to query \""
              + common.name()
              + "\" must not appear within its non-recursive term",
          at);
    }
    return queries.commonTable(common);
  }

  From from(
      RelNode rel,
      String alias,
      @Nullable String schema,
      List<String> names,
      List<Scope.BaseTable> tables) {
    List<Scope.Field> fields = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      fields.add(
          new Scope.Field(alias, schema, names.get(i), context.rex.makeInputRef(rel, i), false));
    }
    return new From(rel, fields, tables);
  }

  private @Nullable View view(SqlIdentifier identifier) {
    List<String> names = identifier.names;
    return context.catalog.view(
        names.size() > 1 ? names.get(names.size() - 2) : CatalogSnapshot.DEFAULT_SCHEMA,
        names.getLast());
  }

  /// The table that a name means; remembered as used by the statement.
  Table table(SqlIdentifier identifier) {
    List<String> names = identifier.names;
    return table(
        names.size() > 1 ? names.get(names.size() - 2) : null,
        names.getLast(),
        context.position(identifier));
  }

  /// @param position of the name, for the error
  Table table(@Nullable String schema, String name, int position) {
    Table table =
        context.catalog.table(schema == null ? CatalogSnapshot.DEFAULT_SCHEMA : schema, name);
    if (table == null
        && context.catalog.view(schema == null ? CatalogSnapshot.DEFAULT_SCHEMA : schema, name)
            != null) {
      throw new EngineException(
              ErrorCode.NOT_IN_PREREQUISITE_STATE, "cannot change rows of view \"" + name + "\"")
          .withDetail("Views are not automatically updatable.")
          .withHint("Change the rows of its tables.")
          .withPosition(position);
    }
    if (table == null) {
      throw new EngineException(
              ErrorCode.UNDEFINED_TABLE,
              "relation \"" + (schema == null ? "" : schema + ".") + name + "\" does not exist")
          .withPosition(position);
    }
    context.tables.add(table);
    return table;
  }

  private From side(SqlNode node, boolean nullable, @Nullable Scope parent) {
    return nullable
        ? context.barring("an outer join", () -> item(node, parent))
        : item(node, parent);
  }

  private From join(SqlJoin join, @Nullable Scope parent) {
    JoinRelType type = type(join);
    From left = side(join.getLeft(), type.generatesNullsOnLeft(), parent);
    boolean function = RowFunctionBinder.accepts(join.getRight());
    boolean lateral = function || isLateral(join.getRight());
    Scope outer = new Scope(parent);
    outer.fields.addAll(left.fields());
    outer.rowType = left.rel().getRowType();
    From right = side(join.getRight(), type.generatesNullsOnRight(), lateral ? outer : parent);
    // A function that names no column of the left is a table like others.
    if (lateral && (!function || outer.correlation != null)) {
      return lateral(join, left, right, outer);
    }
    refuseDuplicateAliases(left.fields(), right.fields(), join);
    int leftCount = left.rel().getRowType().getFieldCount();
    List<Scope.Field> shifted = map(right.fields(), node -> shift(node, leftCount));
    List<Scope.Field> fields = new ArrayList<>(left.fields());
    fields.addAll(shifted);
    Scope scope = new Scope(parent);
    scope.fields.addAll(fields);
    scope.clause = "JOIN conditions";
    scope.rowType = context.types.createJoinType(left.rel().getRowType(), right.rel().getRowType());
    List<String> using = usingColumns(join, left.fields(), right.fields());
    RexNode condition =
        using != null
            ? usingCondition(join, using, left.fields(), shifted)
            : join.getConditionType() == JoinConditionType.ON
                ? queries.expressions.bindCondition(
                    java.util.Objects.requireNonNull(join.getCondition()),
                    scope,
                    "argument of JOIN/ON")
                : context.rex.makeLiteral(true);
    RelNode rel =
        LogicalJoin.create(left.rel(), right.rel(), List.of(), condition, scope.correlations, type);
    List<Scope.Field> output =
        using == null ? fields : mergeUsing(join, using, left.fields(), shifted, type);
    List<Scope.BaseTable> tables = new ArrayList<>(left.tables());
    right.tables().forEach(t -> tables.add(t.moved(leftCount)));
    return new From(rel, map(output, node -> retype(node, rel.getRowType())), tables);
  }

  private static boolean isLateral(SqlNode node) {
    return node.getKind() == SqlKind.LATERAL
        || (node.getKind() == SqlKind.AS
            && ((SqlCall) node).operand(0).getKind() == SqlKind.LATERAL);
  }

  /// A join whose right side may name columns of the left.
  ///
  /// @param outer scope of the right side
  private From lateral(SqlJoin join, From left, From right, Scope outer) {
    refuseDuplicateAliases(left.fields(), right.fields(), join);
    JoinRelType type = type(join);
    if (type != JoinRelType.INNER && type != JoinRelType.LEFT) {
      throw context.error(
          ErrorCode.INVALID_COLUMN_REFERENCE,
          "the combining JOIN type must be INNER or LEFT for a LATERAL reference",
          join);
    }
    if (join.isNatural() || join.getConditionType() == JoinConditionType.USING) {
      throw queries.expressions.unsupported(join, "USING with LATERAL");
    }
    RelNode filtered = right.rel();
    if (join.getConditionType() == JoinConditionType.ON) {
      Scope inner = new Scope(outer);
      inner.fields.addAll(right.fields());
      inner.rowType = right.rel().getRowType();
      inner.clause = "JOIN conditions";
      RexNode condition =
          queries.expressions.bindCondition(
              java.util.Objects.requireNonNull(join.getCondition()), inner, "argument of JOIN/ON");
      if (!condition.isAlwaysTrue()) {
        filtered =
            LogicalFilter.create(
                filtered,
                condition,
                com.google.common.collect.ImmutableSet.copyOf(inner.correlations));
      }
    }
    CorrelationId id = outer.correlation;
    RelNode rel =
        id == null
            ? LogicalJoin.create(
                left.rel(), filtered, List.of(), context.rex.makeLiteral(true), Set.of(), type)
            : LogicalCorrelate.create(
                left.rel(),
                filtered,
                List.of(),
                id,
                RelOptUtil.correlationColumns(id, filtered),
                type);
    int leftCount = left.rel().getRowType().getFieldCount();
    List<Scope.Field> fields = new ArrayList<>(left.fields());
    fields.addAll(map(right.fields(), node -> shift(node, leftCount)));
    List<Scope.BaseTable> tables = new ArrayList<>(left.tables());
    return new From(rel, map(fields, node -> retype(node, rel.getRowType())), tables);
  }

  private static JoinRelType type(SqlJoin join) {
    return switch (join.getJoinType()) {
      case LEFT -> JoinRelType.LEFT;
      case RIGHT -> JoinRelType.RIGHT;
      case FULL -> JoinRelType.FULL;
      default -> JoinRelType.INNER;
    };
  }

  private @Nullable List<String> usingColumns(
      SqlJoin join, List<Scope.Field> left, List<Scope.Field> right) {
    if (join.isNatural()) {
      Set<String> common = new LinkedHashSet<>();
      for (Scope.Field field : left) {
        if (!field.merged()
            && right.stream().anyMatch(r -> !r.merged() && r.name().equals(field.name()))) {
          common.add(field.name());
        }
      }
      return List.copyOf(common);
    }
    if (join.getConditionType() != JoinConditionType.USING) {
      return null;
    }
    List<String> names = new ArrayList<>();
    for (SqlNode column : (SqlNodeList) java.util.Objects.requireNonNull(join.getCondition())) {
      names.add(((SqlIdentifier) column).getSimple());
    }
    return names;
  }

  private RexNode usingCondition(
      SqlJoin join, List<String> using, List<Scope.Field> left, List<Scope.Field> right) {
    List<RexNode> terms = new ArrayList<>();
    for (String name : using) {
      RexNode a = usingField(join, name, left, "left").expression();
      RexNode b = usingField(join, name, right, "right").expression();
      terms.add(queries.expressions.comparison(SqlKind.EQUALS, a, b, join));
    }
    return terms.isEmpty()
        ? context.rex.makeLiteral(true)
        : terms.size() == 1
            ? terms.getFirst()
            : context.rex.makeCall(SqlStdOperatorTable.AND, terms);
  }

  private Scope.Field usingField(SqlJoin join, String name, List<Scope.Field> fields, String side) {
    List<Scope.Field> found =
        fields.stream().filter(f -> !f.merged() && f.name().equals(name)).toList();
    if (found.isEmpty()) {
      throw context.error(
          ErrorCode.UNDEFINED_COLUMN,
          "column \"" + name + "\" specified in USING clause does not exist in " + side + " table",
          join);
    }
    if (found.size() > 1) {
      throw context.error(
          ErrorCode.AMBIGUOUS_COLUMN,
          "common column name \"" + name + "\" appears more than once in " + side + " table",
          join);
    }
    return found.getFirst();
  }

  private List<Scope.Field> mergeUsing(
      SqlJoin join,
      List<String> using,
      List<Scope.Field> left,
      List<Scope.Field> right,
      JoinRelType type) {
    List<Scope.Field> output = new ArrayList<>();
    for (String name : using) {
      RexNode a = usingField(join, name, left, "left").expression();
      RexNode b = usingField(join, name, right, "right").expression();
      RexNode merged =
          switch (type) {
            case RIGHT -> b;
            case FULL ->
                context.rex.makeCall(
                    context.types.createTypeWithNullability(a.getType(), true),
                    PgOperators.COALESCE,
                    List.of(a, b));
            default -> a;
          };
      output.add(new Scope.Field(null, null, name, merged, false));
    }
    for (List<Scope.Field> side : List.of(left, right)) {
      for (Scope.Field field : side) {
        boolean hidden = field.merged() || using.contains(field.name());
        if (field.alias() != null || !hidden) {
          output.add(
              new Scope.Field(
                  field.alias(), field.schema(), field.name(), field.expression(), hidden));
        }
      }
    }
    return output;
  }

  static List<Scope.Field> map(List<Scope.Field> fields, Function<RexNode, RexNode> function) {
    return fields.stream()
        .map(f ->
            new Scope.Field(
                f.alias(), f.schema(), f.name(), function.apply(f.expression()), f.merged()))
        .toList();
  }

  RexNode shift(RexNode node, int by) {
    return RowShift.apply(node, context.rex, index -> index + by);
  }

  RexNode retype(RexNode node, RelDataType rowType) {
    List<RelDataTypeField> types = rowType.getFieldList();
    return node.accept(
        new RexShuttle() {
          @Override
          public RexNode visitInputRef(RexInputRef reference) {
            return context.rex.makeInputRef(
                types.get(reference.getIndex()).getType(), reference.getIndex());
          }
        });
  }

  /// Refuses a FROM entry whose name is another's.
  void refuseDuplicateAliases(List<Scope.Field> left, List<Scope.Field> right, SqlNode at) {
    Set<String> seen = new LinkedHashSet<>();
    left.forEach(field -> seen.add(key(field)));
    for (Scope.Field field : right) {
      if (field.alias() != null && seen.contains(key(field))) {
        throw context.error(
            ErrorCode.DUPLICATE_ALIAS,
            "table name \"" + field.alias() + "\" specified more than once",
            at);
      }
    }
  }

  private static String key(Scope.Field field) {
    return field.schema() == null ? field.alias() + "" : field.schema() + "." + field.alias();
  }
}
