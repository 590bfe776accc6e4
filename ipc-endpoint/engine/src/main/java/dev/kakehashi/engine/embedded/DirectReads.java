package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.DirectRead;
import dev.kakehashi.engine.embedded.plans.StatementPlan;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PhysicalPlan;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.SharedIndex;
import dev.kakehashi.engine.store.api.Store;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.api.TableStore;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Which statements a client can answer by itself that has the store's memory mapped: columns of the one row whose whole unique key equals
/// parameters. Stateless.
final class DirectReads {
  private DirectReads() {}

  /// @return null: requests alone answer the plan
  static @Nullable DirectRead of(StatementPlan plan, Store store) {
    if (store.sharedMemory() < 0
        || !(plan.prepared() instanceof Prepared.Planned planned)
        || !(planned.plan() instanceof PhysicalPlan.Query query)
        || query.changesRows()) {
      return null;
    }
    int[] output = null;
    PlanNode source = query.source();
    if (source instanceof PlanNode.Project project) {
      output = columnsOnly(project.expressions());
      source = project.input();
      if (output == null) {
        return null;
      }
    }
    return source instanceof PlanNode.IndexScan scan
            && scan.filter() == null
            && scan.anyOf() == null
            && scan.lower() == null
            && scan.upper() == null
        ? of(plan.catalogVersion(), scan, output, store)
        : null;
  }

  private static int @Nullable [] columnsOnly(List<Expr> expressions) {
    int[] columns = new int[expressions.size()];
    for (int i = 0; i < columns.length; i++) {
      if (!(expressions.get(i) instanceof Expr.Column column)) {
        return null;
      }
      columns[i] = column.index();
    }
    return columns;
  }

  /// @param output columns of the scan that are the result's; null: all
  private static @Nullable DirectRead of(
      long definitions, PlanNode.IndexScan scan, int @Nullable [] output, Store store) {
    TableStore table = store.table(scan.tableId());
    SharedIndex shared = table.shared(scan.index());
    TableDefinition definition = table.definition();
    TableDefinition.IndexDefinition index = definition.indexes().get(scan.index());
    if (shared == null
        || !index.unique()
        || !index.predicate().isEmpty()
        || index.columns().size() != scan.equals().size()) {
      return null;
    }
    List<DirectRead.Key> keys = new ArrayList<>();
    for (int i = 0; i < scan.equals().size(); i++) {
      int column = index.columns().get(i);
      DirectRead.Kind kind = keyKind(definition.columns().get(column));
      if (kind == null || !(scan.equals().get(i) instanceof Expr.Parameter parameter)) {
        return null;
      }
      keys.add(
          new DirectRead.Key(
              parameter.index(),
              shared.positions()[column],
              kind,
              !definition.notNull().get(column),
              index.descending().get(i),
              shared.dictionaryCells()[column]));
    }
    List<DirectRead.Column> columns = new ArrayList<>();
    for (int i = 0; i < (output == null ? scan.columns().length : output.length); i++) {
      int column = scan.columns()[output == null ? i : output[i]];
      DirectRead.Kind kind =
          column == PlanNode.ROW_ID ? null : kind(definition.columns().get(column));
      if (kind == null) {
        return null;
      }
      columns.add(
          new DirectRead.Column(
              shared.positions()[column],
              kind,
              shared.missingNull()[column],
              shared.dictionaryCells()[column]));
    }
    return new DirectRead(
        definitions,
        shared.tableCell(),
        shared.tableGeneration(),
        shared.indexCell(),
        shared.indexGeneration(),
        shared.pageRows(),
        keys,
        columns);
  }

  /// Kinds of keys whose bytes the client makes as the index does.
  private static DirectRead.@Nullable Kind keyKind(ColumnKind kind) {
    return switch (kind) {
      case INTEGER -> DirectRead.Kind.WORD;
      case VARLENA -> DirectRead.Kind.VARLENA;
      case UUID -> DirectRead.Kind.FIXED16;
      default -> null;
    };
  }

  private static DirectRead.@Nullable Kind kind(ColumnKind kind) {
    return switch (kind) {
      case INTEGER -> DirectRead.Kind.WORD;
      case FLOAT4 -> DirectRead.Kind.FLOAT4;
      case FLOAT8 -> DirectRead.Kind.FLOAT8;
      case VARLENA, BPCHAR -> DirectRead.Kind.VARLENA;
      case UUID, INTERVAL -> DirectRead.Kind.FIXED16;
      default -> null;
    };
  }
}
