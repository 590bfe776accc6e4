package dev.kakehashi.engine.exec.reference;

import dev.kakehashi.engine.exec.join.JoinTable;
import dev.kakehashi.engine.exec.rows.MemoryAccount;
import dev.kakehashi.engine.plan.References.Rule;
import dev.kakehashi.engine.type.value.Ordering;
import dev.kakehashi.engine.vector.ColumnVector;
import java.util.stream.IntStream;

/// Keys that went away, by their values: columns of the key in the order of a rule, then, where rows were updated, the new ones. Confined
/// to one thread at a time.
public final class GoneKeys implements AutoCloseable {
  private final int width;
  private final JoinTable table;

  /// @param updated whether each key comes with the new one
  public GoneKeys(Rule rule, boolean updated, MemoryAccount memory) {
    this.width = rule.referencing().columns().length;
    int[] oids = new int[updated ? 2 * width : width];
    for (int i = 0; i < oids.length; i++) {
      oids[i] = rule.referenced().typeOids()[i % width];
    }
    this.table = new JoinTable(oids, IntStream.range(0, width).toArray(), memory);
  }

  /// Adds row 0 of some columns.
  public void add(ColumnVector[] columns) {
    table.rows().append(columns, 0);
  }

  /// All keys are there: they are going to be looked for.
  public void build() {
    table.build();
  }

  public int size() {
    return table.rows().size();
  }

  long word(int column, int key) {
    return table.rows().word(column, key);
  }

  /// Word of the new key.
  public long newWord(int column, int key) {
    return table.rows().word(width + column, key);
  }

  public boolean isNewNull(int column, int key) {
    return table.rows().isNull(width + column, key);
  }

  /// The key that a row references, or -1.
  int find(ColumnVector[] columns, int row) {
    long hash = table.hash(columns, row);
    for (int c = 0; c < width; c++) {
      if (columns[c].isNull(row)) {
        return -1;
      }
    }
    for (int key = table.first(hash); key >= 0; key = table.next(key)) {
      if (table.hash(key) == hash && isEqual(key, columns, row)) {
        return key;
      }
    }
    return -1;
  }

  private boolean isEqual(int key, ColumnVector[] columns, int row) {
    for (int c = 0; c < width; c++) {
      if (!Ordering.equal(table.keyKind(c), table.rows().word(c, key), columns[c].words[row])) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    table.close();
  }
}
