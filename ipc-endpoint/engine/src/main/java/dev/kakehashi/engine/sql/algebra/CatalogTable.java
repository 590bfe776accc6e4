package dev.kakehashi.engine.sql.algebra;

import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.catalog.Column;
import dev.kakehashi.engine.catalog.Index;
import dev.kakehashi.engine.catalog.Table;
import dev.kakehashi.engine.statistics.StatisticsSource;
import dev.kakehashi.engine.statistics.TableStatistics;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.ToLongFunction;
import org.apache.calcite.plan.RelOptAbstractTable;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/// A table of the catalogue for Calcite's rules: row type, row count, unique keys.
public final class CatalogTable extends RelOptAbstractTable {
  private final Table table;
  private final double rowCount;
  private final @Nullable TableStatistics statistics;
  private final CatalogSnapshot catalog;
  private @Nullable Map<Integer, RexNode> indexed;

  private CatalogTable(
      Table table,
      RelDataType rowType,
      double rowCount,
      @Nullable TableStatistics statistics,
      CatalogSnapshot catalog) {
    super(null, table.name(), rowType);
    this.catalog = catalog;
    this.table = table;
    this.rowCount = rowCount;
    this.statistics = statistics;
  }

  /// @param withRowId whether the row identifier is the last column
  /// @param rowCount estimated rows of a table; the catalogue's live tables know statistics, too
  public static CatalogTable of(
      Table table,
      boolean withRowId,
      PgTypeFactory factory,
      ToLongFunction<Table> rowCount,
      CatalogSnapshot catalog) {
    List<RelDataType> types = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (Column column : table.columns()) {
      types.add(factory.of(column.type(), !column.notNull()));
      names.add(column.name());
    }
    if (withRowId) {
      types.add(factory.of(TypeOid.INT8, false));
      names.add("kh row id");
    }
    RelDataType rowType = factory.createStructType(types, names);
    double rows = table.isSystem() ? 100 : Math.max(1, rowCount.applyAsLong(table));
    return new CatalogTable(
        table,
        rowType,
        rows,
        rowCount instanceof StatisticsSource source ? source.statistics(table) : null,
        catalog);
  }

  /// Expressions that the table has indexes over, by the positions of the hidden columns that have their values. They are bound once.
  ///
  /// @param bind gives the expression of a hidden column
  public Map<Integer, RexNode> indexed(IntFunction<RexNode> bind) {
    Map<Integer, RexNode> found = indexed;
    if (found == null) {
      found = new TreeMap<>();
      for (int i = 0; i < table.columns().size(); i++) {
        if (table.columns().get(i).hidden()) {
          found.put(i, bind.apply(i));
        }
      }
      indexed = found;
    }
    return found;
  }

  /// Null if nothing is known about the columns.
  @Nullable TableStatistics statistics() {
    return statistics;
  }

  /// Version of the catalogue that the table is part of.
  public CatalogSnapshot catalog() {
    return catalog;
  }

  public Table table() {
    return table;
  }

  @Override
  public List<String> getQualifiedName() {
    return List.of(table.schema(), table.name());
  }

  @Override
  public double getRowCount() {
    return rowCount;
  }

  @Override
  public boolean isKey(ImmutableBitSet columns) {
    return getKeys().stream().anyMatch(columns::contains);
  }

  @Override
  public List<ImmutableBitSet> getKeys() {
    List<ImmutableBitSet> keys = new ArrayList<>();
    int columns = table.columns().size();
    if (getRowType().getFieldCount() > columns) {
      keys.add(ImmutableBitSet.of(columns));
    }
    for (Index index : table.indexes()) {
      boolean notNull =
          index.columns().stream().allMatch(column -> table.columns().get(column).notNull());
      if (index.isKey() && notNull) {
        keys.add(ImmutableBitSet.of(index.columns()));
      }
    }
    return keys;
  }
}
