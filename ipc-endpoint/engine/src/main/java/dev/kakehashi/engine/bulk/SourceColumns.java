package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.plan.LoadPlan;

/// Columns that files have.
///
/// @param positions in the table, in the order of the files
/// @param typeOids of the values
record SourceColumns(int[] positions, int[] typeOids) {
  static SourceColumns of(LoadSource source, LoadPlan plan) {
    int[] columns = source.columns();
    int[] positions = new int[columns.length];
    int[] oids = new int[columns.length];
    for (int i = 0; i < columns.length; i++) {
      positions[i] = plan.positions()[columns[i]];
      oids[i] = plan.columns().get(columns[i]).typeOid();
    }
    return new SourceColumns(positions, oids);
  }
}
