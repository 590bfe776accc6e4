package dev.kakehashi.engine.catalog;

import dev.kakehashi.engine.store.TableDefinition.IndexDefinition;
import java.util.List;

/// An index or the primary key of a table.
///
/// @param columns positions of the key columns in the table
/// @param descending per key column
public record Index(
    String name,
    long indexId,
    List<Integer> columns,
    List<Boolean> descending,
    boolean unique,
    boolean primary) {

  IndexDefinition definition() {
    return new IndexDefinition(indexId, name, columns, descending, unique);
  }
}
