package dev.kakehashi.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.api.KeyRange;
import dev.kakehashi.engine.store.api.ReadView;
import dev.kakehashi.engine.store.api.StoreTransaction;
import dev.kakehashi.engine.store.api.TableStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/// Random changes of the columns and rows of a table with an integer primary key, and what it has after them. The same random numbers give
/// the same changes.
final class ColumnsModel {
  /// Columns that stay: the key and one beside it.
  private static final int FIXED = 2;

  private static final int MOST_COLUMNS = 8;
  private static final int FEW_ROWS = 20;

  private final List<ColumnKind> kinds;
  private final Map<Long, List<@Nullable Object>> rows = new HashMap<>();
  private long nextId;

  ColumnsModel(List<ColumnKind> kinds) {
    this.kinds = new ArrayList<>(kinds);
  }

  ColumnsModel copy() {
    ColumnsModel copy = new ColumnsModel(kinds);
    rows.forEach((id, values) -> copy.rows.put(id, new ArrayList<>(values)));
    copy.nextId = nextId;
    return copy;
  }

  /// One change, of the model and of a table.
  ///
  /// @param transaction null: of the model only
  void step(Random random, TableStore table, @Nullable StoreTransaction transaction) {
    switch (random.nextInt(8)) {
      case 0 -> {
        if (kinds.size() < MOST_COLUMNS) {
          addColumn(random, table, transaction);
        }
      }
      case 1 -> {
        if (kinds.size() > FIXED + 1) {
          dropColumn(FIXED + random.nextInt(kinds.size() - FIXED), table, transaction);
        }
      }
      default -> changeRow(random, table, transaction);
    }
  }

  private void addColumn(Random random, TableStore table, @Nullable StoreTransaction transaction) {
    ColumnKind kind = random.nextBoolean() ? ColumnKind.INTEGER : ColumnKind.VARLENA;
    Object value = value(kind, random);
    if (transaction != null) {
      transaction.define(ColumnChanges.add(table.definition(), kind, value));
    }
    kinds.add(kind);
    rows.values().forEach(values -> values.add(value));
  }

  private void dropColumn(int column, TableStore table, @Nullable StoreTransaction transaction) {
    if (transaction != null) {
      transaction.define(ColumnChanges.drop(table.definition(), column));
    }
    kinds.remove(column);
    rows.values().forEach(values -> values.remove(column));
  }

  private void changeRow(Random random, TableStore table, @Nullable StoreTransaction transaction) {
    boolean inserts = rows.size() < FEW_ROWS || random.nextInt(3) == 0;
    List<Long> ids = rows.keySet().stream().sorted().toList();
    long id = inserts ? nextId++ : ids.get(random.nextInt(ids.size()));
    List<@Nullable Object> values = new ArrayList<>();
    values.add(id);
    for (int c = 1; c < kinds.size(); c++) {
      values.add(value(kinds.get(c), random));
    }
    boolean deletes = !inserts && random.nextInt(4) == 0;
    if (transaction != null) {
      ReadView view = transaction.beginStatement();
      if (inserts) {
        Rows.insert(table, transaction, values.toArray());
      } else {
        long rowId = Rows.indexScan(table, view, 0, KeyRange.equal(id)).getFirst().rowId();
        assertTrue(
            deletes
                ? table.delete(transaction, rowId)
                : Rows.update(table, transaction, rowId, values.toArray()));
      }
    }
    if (deletes) {
      rows.remove(id);
    } else {
      rows.put(id, values);
    }
  }

  private static @Nullable Object value(ColumnKind kind, Random random) {
    if (random.nextInt(4) == 0) {
      return null;
    }
    long number = random.nextInt(5);
    return kind == ColumnKind.INTEGER ? (Object) number : "text ".repeat((int) number) + number;
  }

  /// Compares with all rows of the table.
  void assertEqual(TableStore table, ReadView view, String when) {
    assertEquals(kinds, table.definition().columns(), when);
    Map<Long, List<@Nullable Object>> found = new HashMap<>();
    Rows.scan(table, view).forEach(row -> found.put((Long) row.values().getFirst(), row.values()));
    assertEquals(rows, found, when);
    Map<Long, List<@Nullable Object>> byKey = new HashMap<>();
    Rows.indexScan(table, view, 0, KeyRange.ALL)
        .forEach(row -> byKey.put((Long) row.values().getFirst(), row.values()));
    assertEquals(rows, byKey, when);
  }
}
