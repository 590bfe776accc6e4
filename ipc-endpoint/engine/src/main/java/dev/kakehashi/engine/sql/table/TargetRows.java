package dev.kakehashi.engine.sql.table;

import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.sql.binder.FromBinder;
import dev.kakehashi.engine.sql.binder.FromBinder.From;
import dev.kakehashi.engine.sql.binder.QueryBinder;
import dev.kakehashi.engine.sql.binder.RowIdentityColumn;
import dev.kakehashi.engine.sql.binder.Scope;
import dev.kakehashi.engine.sql.typing.BindContext;
import dev.kakehashi.engine.sql.typing.RelationUse;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/// Binds the table that a statement changes, with its row identifier, joined with the other tables of the statement.
public final class TargetRows {
  private final QueryBinder queries;
  private final BindContext context;

  public TargetRows(QueryBinder queries) {
    this.queries = queries;
    this.context = queries.context;
  }

  /// The table: its columns, then the row identifier.
  public From table(Table table, String alias, RelationUse use) {
    RelNode scan =
        LogicalTableScan.create(context.cluster, context.catalogTableWithRowId(table), List.of());
    return queries.from.read(
        queries.from.from(
            scan,
            alias,
            alias.equals(table.name()) ? table.schema() : null,
            table.columns().stream().map(Column::name).toList(),
            List.of()),
        use);
  }

  /// The table joined with the FROM or USING of the statement, whose columns follow.
  ///
  /// @param others null: there are none
  /// @param use gets what is read of the table
  public RelNode changed(
      Table table, String alias, @Nullable SqlNode others, Scope scope, RelationUse use) {
    From target = table(table, alias, use);
    if (RowIdentityColumn.isNamed(table, context)) {
      RowIdentityColumn.addTo(target, table, context);
    }
    if (others == null) {
      return queries.from.enter(target, scope);
    }
    From joined = queries.from.item(others, scope.parent);
    queries.from.refuseDuplicateAliases(target.fields(), joined.fields(), others);
    RelNode rel =
        LogicalJoin.create(
            target.rel(),
            joined.rel(),
            List.of(),
            context.rex.makeLiteral(true),
            Set.of(),
            JoinRelType.INNER);
    List<Scope.Field> fields = new ArrayList<>(target.fields());
    fields.addAll(moved(target, joined));
    return queries.from.enter(new From(rel, fields, List.of()), scope);
  }

  /// Columns of the other tables as they are behind those of the target.
  public List<Scope.Field> moved(From target, From others) {
    int columns = target.rel().getRowType().getFieldCount();
    return FromBinder.map(others.fields(), node -> queries.from.shift(node, columns));
  }

  /// The table joined with the source of MERGE.
  ///
  /// @param source the condition's other side, behind the target's columns
  /// @param condition over both
  public From merged(From target, From source, RexNode condition, Scope scope, JoinRelType type) {
    RelNode rel =
        LogicalJoin.create(
            target.rel(), source.rel(), List.of(), condition, scope.correlations(), type);
    List<Scope.Field> fields =
        FromBinder.map(scope.fields, node -> queries.from.retype(node, rel.getRowType()));
    return new From(rel, fields, List.of());
  }
}
