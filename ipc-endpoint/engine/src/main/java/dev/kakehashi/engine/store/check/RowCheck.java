package dev.kakehashi.engine.store.check;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.store.api.Placement;
import dev.kakehashi.engine.store.api.TableDefinition;
import dev.kakehashi.engine.store.index.VarlenaLengths;
import dev.kakehashi.engine.store.log.StoreKeys;
import dev.kakehashi.engine.store.memory.MemoryPool;
import dev.kakehashi.engine.store.memory.NativeInput;
import dev.kakehashi.engine.store.row.Page;
import dev.kakehashi.engine.store.row.RowCodec;
import dev.kakehashi.engine.store.row.RowLayout;
import dev.kakehashi.engine.store.row.RowVersion;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// The rows as they lie on the disk, in one pass.
public final class RowCheck {
  private final Map<Long, TableDefinition> tables;
  private final CheckListener report;
  private final LongFunction<String> names;
  private final MemoryPool scratch;
  private final Map<Long, Long> counts = new TreeMap<>();
  private final Map<Long, Long> orphans = new TreeMap<>();
  private @Nullable TableDefinition table;
  private RowLayout layout;
  private boolean[] live = {};
  private RowVersion version = new RowVersion(0);

  /// @param tables the definitions that can be read
  /// @param names what tables are called
  /// @param scratch lends memory for the values of a row
  public RowCheck(
      Map<Long, TableDefinition> tables,
      CheckListener report,
      LongFunction<String> names,
      MemoryPool scratch) {
    this.tables = tables;
    this.report = report;
    this.names = names;
    this.scratch = scratch;
    this.layout = new RowLayout(Placement.of(List.of(), true), scratch);
    tables.keySet().forEach(id -> counts.put(id, 0L));
  }

  public void row(NativeInput key, NativeInput value) {
    if (key.remaining() != StoreKeys.ROW_KEY_BYTES) {
      report.problem("a row has a key of %d bytes".formatted(key.remaining()));
      return;
    }
    long tableId = key.longAt(1);
    long rowId = key.longAt(9);
    TableDefinition definition = definition(tableId);
    if (definition == null) {
      orphans.merge(tableId, 1L, Long::sum);
      return;
    }
    counts.merge(tableId, 1L, Long::sum);
    if (rowId < 0 || (rowId & (1 << Page.SLOT_BITS) - 1) >= layout.rows) {
      report.problem("%s: there can be no row %d".formatted(names.apply(tableId), rowId));
      return;
    }
    try {
      RowCodec.decode(layout, live, value, scratch, version);
    } catch (EngineException e) {
      report.problem("%s: row %d: %s".formatted(names.apply(tableId), rowId, e.getMessage()));
      return;
    }
    for (int c = 0; c < definition.columns().size(); c++) {
      if (version.nulls[definition.placement().position(c)] && definition.notNull().get(c)) {
        report.problem(
            "%s: row %d: column %d is null, but NOT NULL"
                .formatted(names.apply(tableId), rowId, c + 1));
      }
    }
    for (int c : layout.byReference) {
      long word = version.words[c];
      if (layout.isOwned(c, word)) {
        scratch.free(word, VarlenaLengths.bytes(layout.kinds[c], word));
      }
    }
  }

  private @Nullable TableDefinition definition(long tableId) {
    if (table == null || table.tableId() != tableId) {
      table = tables.get(tableId);
      if (table != null) {
        layout.free(scratch);
        layout = new RowLayout(table.placement(), scratch);
        live = table.placement().live();
        version = new RowVersion(layout.columns);
      }
    }
    return table;
  }

  public void end() {
    counts.forEach((tableId, count) ->
        report.checked("%s: %d rows decode".formatted(names.apply(tableId), count)));
    orphans.forEach((tableId, count) ->
        report.checked("table %d was dropped: %d rows are left of it".formatted(tableId, count)));
  }
}
