package dev.kakehashi.engine.plan;

import dev.kakehashi.engine.catalog.ForeignKey.Timing;
import java.util.List;

/// A deferrable PRIMARY KEY or UNIQUE constraint: its index lets duplicates in, which are looked for later.
///
/// @param constraintId number of the index
/// @param columns its columns in the table
/// @param typeOids of them
public record UniqueKey(
    long constraintId,
    String name,
    String schema,
    String table,
    long tableId,
    List<String> columnNames,
    int[] columns,
    int[] typeOids,
    Timing timing)
    implements DeferrableConstraint {}
