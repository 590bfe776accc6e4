package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.DirectRead;
import dev.kakehashi.engine.expr.Expr;
import dev.kakehashi.engine.plan.PlanNode;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A scan below nothing but a choice of columns and a sort. Immutable.
///
/// @param output columns of the scan that are the result's, and parameters as negative numbers, from [#FIRST_PARAMETER] down; null: all
///     columns
/// @param sort by columns of the scan; empty: the rows come as they do from there
record DirectShape(PlanNode scan, int @Nullable [] output, List<PlanNode.SortKey> sort) {
  /// Less than [PlanNode#ROW_ID].
  static final int FIRST_PARAMETER = -1000;

  /// @return null: there is more in the plan
  static @Nullable DirectShape of(PlanNode plan) {
    return switch (plan) {
      case PlanNode.Project project -> {
        DirectShape below = of(project.input());
        int[] columns = below == null ? null : columnsOnly(project.expressions());
        yield below == null || columns == null
            ? null
            : new DirectShape(below.scan, chosen(below.output, columns), below.sort);
      }
      case PlanNode.Sort sort when sort.offset() == null && sort.limit() == null -> {
        DirectShape below = of(sort.input());
        yield below == null || !below.sort.isEmpty() ? null : below.sortedBy(sort.keys());
      }
      case PlanNode.IndexScan scan -> new DirectShape(scan, null, List.of());
      case PlanNode.TableScan scan -> new DirectShape(scan, null, List.of());
      default -> null;
    };
  }

  private @Nullable DirectShape sortedBy(List<PlanNode.SortKey> keys) {
    int[] chosen = output;
    List<PlanNode.SortKey> ofScan =
        chosen == null
            ? keys
            : keys.stream()
                .map(k -> new PlanNode.SortKey(chosen[k.column()], k.descending(), k.nullsFirst()))
                .toList();
    return ofScan.stream().anyMatch(key -> key.column() < 0)
        ? null
        : new DirectShape(scan, output, ofScan);
  }

  private static int[] chosen(int @Nullable [] from, int[] columns) {
    return from == null
        ? columns
        : Arrays.stream(columns).map(i -> i <= FIRST_PARAMETER ? i : from[i]).toArray();
  }

  /// @return null: there are others than columns and parameters
  private static int @Nullable [] columnsOnly(List<Expr> expressions) {
    int[] columns = new int[expressions.size()];
    for (int i = 0; i < columns.length; i++) {
      if (expressions.get(i) instanceof Expr.Column column) {
        columns[i] = column.index();
      } else if (expressions.get(i) instanceof Expr.Parameter parameter
          && isInteger(parameter.typeOid())) {
        columns[i] = FIRST_PARAMETER - parameter.index();
      } else {
        return null;
      }
    }
    return columns;
  }

  static boolean isInteger(int oid) {
    return oid == TypeOid.INT2 || oid == TypeOid.INT4 || oid == TypeOid.INT8;
  }

  /// The result: columns of the table, and parameters.
  ///
  /// @param columns of the table, which the scan has
  int[] result(int[] columns) {
    return chosen(columns, output == null ? identity(columns.length) : output);
  }

  private static int[] identity(int count) {
    int[] all = new int[count];
    Arrays.setAll(all, i -> i);
    return all;
  }

  /// In which order an index has the rows as they are wanted.
  ///
  /// @param columns of the table, which the scan has
  /// @param equal columns of the index that equal something
  /// @param isBound whether the next one is compared with something, so that no row has null there
  /// @param otherwise the order if none is wanted
  /// @return null: in none
  DirectRead.@Nullable Order order(
      TableDefinition table,
      TableDefinition.IndexDefinition index,
      int[] columns,
      int equal,
      boolean isBound,
      DirectRead.Order otherwise) {
    if (sort.size() > index.columns().size() - equal) {
      return null;
    }
    DirectRead.Order order = null;
    for (int i = 0; i < sort.size(); i++) {
      PlanNode.SortKey key = sort.get(i);
      int column = index.columns().get(equal + i);
      // The index has nulls where the greatest values are.
      boolean fits =
          key.nullsFirst() == key.descending()
              || table.notNull().get(column)
              || (i == 0 && isBound);
      DirectRead.Order ofKey =
          key.descending() == index.descending().get(equal + i)
              ? DirectRead.Order.FORWARD
              : DirectRead.Order.REVERSE;
      if (!fits || columns[key.column()] != column || (order != null && order != ofKey)) {
        return null;
      }
      order = ofKey;
    }
    return order == null ? otherwise : order;
  }
}
