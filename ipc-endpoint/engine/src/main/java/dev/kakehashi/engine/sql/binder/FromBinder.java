package dev.kakehashi.engine.sql.binder;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.catalog.View;
import dev.kakehashi.engine.rights.Privilege;
import dev.kakehashi.engine.sql.algebra.RowShift;
import dev.kakehashi.engine.sql.algebra.Sample;
import dev.kakehashi.engine.sql.algebra.SampledRows;
import dev.kakehashi.engine.sql.spelling.SampleClause;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.BoundQuery;
import dev.kakehashi.engine.sql.typing.RelationUse;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Binds FROM clauses: tables, subqueries, joins.
public final class FromBinder {
  /// A part of a FROM clause; expressions of `fields` are over `rel`.
  public record From(RelNode rel, List<Scope.Field> fields, List<Scope.BaseTable> tables) {}

  private final BindContext context;
  private final QueryBinder queries;

  /// Row locks of the SELECT whose FROM is being bound.
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
  public RelNode enter(From from, Scope scope) {
    scope.fields.addAll(from.fields());
    scope.baseTables.addAll(from.tables());
    scope.rowType = from.rel().getRowType();
    return from.rel();
  }

  public From item(SqlNode node, @Nullable Scope parent) {
    return switch (node.getKind()) {
      case JOIN -> new JoinBinder(context, this, queries.expressions).bind((SqlJoin) node, parent);
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
    int next = 2;
    for (Scope.Field field : from.fields()) {
      if (field.system()) {
        continue;
      }
      String name =
          next < call.operandCount() && !field.hidden()
              ? ((SqlIdentifier) call.operand(next++)).getSimple()
              : field.name();
      renamed.add(
          new Scope.Field(field.alias(), field.schema(), name, field.expression(), false)
              .of(field.origin()));
    }
    if (next < call.operandCount()) {
      throw context.error(
          ErrorCode.INVALID_COLUMN_REFERENCE,
          "table \""
              + alias
              + "\" has "
              + (next - 2)
              + " columns available but "
              + (call.operandCount() - 2)
              + " columns specified",
          call);
    }
    from.fields().stream().filter(Scope.Field::system).forEach(renamed::add);
    return new From(from.rel(), renamed, from.tables());
  }

  /// How the SELECT locks the rows of what has an alias; null: not at all.
  private RowLocks.@Nullable Lock lockOf(String alias) {
    return locks == null ? null : locks.of(alias);
  }

  private From derived(SqlNode query, String alias, @Nullable Scope parent) {
    RowLocks.Lock wanted = lockOf(alias);
    if (wanted != null) {
      // It locks the rows that it gives.
      queries.selects.lock(query, wanted);
    }
    BoundQuery bound = queries.bind(query, parent, BoundQuery.Expectation.NONE);
    return from(bound.rel(), alias, null, bound.names(), List.of());
  }

  /// A function as a table, whose column has the name of the table unless it is given one. A column with a name of its own goes by that of
  /// the table as well, if it is the only one.
  private From function(SqlCall table, @Nullable String alias, @Nullable Scope parent) {
    String name = alias == null ? RowFunctionBinder.defaultName(table) : alias;
    if (locks != null && locks.names(name)) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED,
          locks.name() + " cannot be applied to a function",
          table);
    }
    BoundQuery bound = new RowFunctionBinder(queries).bind(table, name, parent);
    RelNode rel = bound.rel();
    From from = from(rel, name, null, bound.names(), List.of());
    Scope.Field first = from.fields().getFirst();
    return from.fields().size() > 1
            || first.name().equals(name)
            || RecordFunctionBinder.isDefined(((SqlCall) table.operand(0)).getOperandList())
        ? from
        : new From(rel, List.of(first.asRow()), List.of());
  }

  private From named(SqlIdentifier identifier, @Nullable String alias, @Nullable Scope parent) {
    context.read(identifier);
    if (identifier.isSimple() && parent != null) {
      Scope.CommonTable common = parent.commonTable(identifier.getSimple());
      if (common != null) {
        return commonTable(common, alias == null ? common.name() : alias, identifier);
      }
    }
    View view = view(identifier);
    if (view != null) {
      String visible = alias == null ? view.name() : alias;
      if (locks != null && locks.of(visible) != null) {
        throw context.error(
            ErrorCode.FEATURE_NOT_SUPPORTED,
            locks.name() + " of a view is not supported",
            identifier);
      }
      RelationUse use = context.use(view.viewId()).require(Privilege.SELECT);
      BoundQuery bound =
          context.as(view.rights().owner(), () -> new ViewBinder(queries).bind(view));
      From rows =
          read(
              from(
                  bound.rel(),
                  visible,
                  alias == null ? view.schema() : null,
                  bound.names(),
                  List.of()),
              use);
      RowIdentityColumn.addMissing(rows, visible, context);
      return rows;
    }
    Sample sample = SampleClause.of(identifier);
    if (sample != null) {
      Table table = table(SampleClause.tableOf(identifier));
      RelationUse use = context.use(table.tableId()).require(Privilege.SELECT);
      return read(sampled(table, sample, alias), use);
    }
    Table table = table(identifier);
    RowLocks.Lock lock = lockOf(alias == null ? table.name() : alias);
    if (lock != null && table.isSystem()) {
      throw RowLocks.notAllowed(lock.strength(), "system tables");
    }
    boolean identified = RowIdentityColumn.isNamed(table, context);
    RelNode scan =
        LogicalTableScan.create(
            context.cluster,
            lock != null || identified
                ? context.catalogTableWithRowId(table)
                : context.catalogTable(table),
            List.of());
    List<String> names = table.columns().stream().map(c -> c.name()).toList();
    RelationUse use = context.use(table.tableId()).require(Privilege.SELECT);
    if (lock != null) {
      lock.require(use);
    }
    From from =
        read(
            from(
                scan,
                alias == null ? table.name() : alias,
                alias == null ? table.schema() : null,
                names,
                List.of(new Scope.BaseTable(table, 0, lock))),
            use);
    if (identified) {
      RowIdentityColumn.addTo(from, table, context);
    } else {
      RowIdentityColumn.addMissing(from, alias == null ? table.name() : alias, context);
    }
    return from;
  }

  private From sampled(Table table, Sample sample, @Nullable String alias) {
    if (table.isSystem()) {
      throw new EngineException(
          ErrorCode.SYNTAX_ERROR,
          "TABLESAMPLE clause can only be applied to tables and materialized views");
    }
    RowLocks.Lock lock = lockOf(alias == null ? table.name() : alias);
    if (lock != null) {
      throw RowLocks.notAllowed(lock.strength(), "TABLESAMPLE");
    }
    return from(
        new SampledRows(context.cluster, context.catalogTable(table), sample),
        alias == null ? table.name() : alias,
        alias == null ? table.schema() : null,
        table.columns().stream().map(c -> c.name()).toList(),
        List.of());
  }

  private From commonTable(Scope.CommonTable common, String alias, SqlNode at) {
    if (locks != null && locks.names(alias)) {
      throw context.error(
          ErrorCode.FEATURE_NOT_SUPPORTED, locks.name() + " cannot be applied to a WITH query", at);
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
    From rows = from(bound.rel(), alias, null, names, List.of());
    if (common instanceof Scope.CommonQuery query
        && query.recursion() != null
        && bound.equals(query.recursion().work)) {
      PathColumns.addTo(rows.fields(), bound, context.rex);
    }
    return rows;
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

  public From from(
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

  /// The same rows, of whose columns it is noted that they are read.
  public From read(From from, RelationUse use) {
    List<Scope.Field> fields = new ArrayList<>();
    for (int i = 0; i < from.fields().size(); i++) {
      fields.add(from.fields().get(i).of(new Scope.Origin(use, i)));
    }
    return new From(from.rel(), fields, from.tables());
  }

  private @Nullable View view(SqlIdentifier identifier) {
    List<String> names = identifier.names;
    context.useSchema(
        names.size() > 1 ? names.get(names.size() - 2) : null,
        names.getLast(),
        context.position(identifier));
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
  public Table table(@Nullable String schema, String name, int position) {
    context.useSchema(schema, name, position);
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

  public static List<Scope.Field> map(
      List<Scope.Field> fields, Function<RexNode, RexNode> function) {
    return fields.stream().map(field -> field.with(function.apply(field.expression()))).toList();
  }

  public RexNode shift(RexNode node, int by) {
    return RowShift.apply(node, context.rex, index -> index + by);
  }

  public RexNode retype(RexNode node, RelDataType rowType) {
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
  public void refuseDuplicateAliases(List<Scope.Field> left, List<Scope.Field> right, SqlNode at) {
    Set<String> seen = new LinkedHashSet<>();
    left.forEach(field -> seen.add(key(field)));
    for (Scope.Field field : right) {
      if (field.alias() != null && seen.contains(key(field))) {
        throw duplicateAlias(context, field.alias(), at);
      }
    }
  }

  static EngineException duplicateAlias(BindContext context, String alias, SqlNode at) {
    return context.error(
        ErrorCode.DUPLICATE_ALIAS, "table name \"" + alias + "\" specified more than once", at);
  }

  private static String key(Scope.Field field) {
    return field.schema() == null ? field.alias() + "" : field.schema() + "." + field.alias();
  }
}
