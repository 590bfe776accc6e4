package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.api.ParameterBatch;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.CatalogSnapshot;
import dev.kakehashi.engine.exec.run.PlanRunner;
import dev.kakehashi.engine.sql.statement.Prepared;
import dev.kakehashi.engine.txn.StatementExecution;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.scheduler.Task;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// Positions of loads that have names, in an ordinary table. The row of each part says how far the part is; the transactions that load its
/// rows write it. Part -1 says which files the load is of.
///
/// Made of the plans for one load. Thread-safe.
final class LoadLog {
  private static final String SCHEMA = "kakehashi_bulk";
  private static final String TABLE = "load_positions";

  /// Makes what there is to be made. Each user sees his own loads.
  static final List<String> DEFINITIONS =
      List.of(
          "create schema if not exists kakehashi_bulk",
          "create table if not exists kakehashi_bulk.load_positions (owner text, load_id text,"
              + " part int8, table_name text not null, digest text not null, rows int8 not null,"
              + " loaded int8 not null, filtered int8 not null, done bool not null,"
              + " changed_at timestamptz not null, primary key (owner, load_id, part))",
          "create or replace view kakehashi_bulk.load_parts as select load_id, part, table_name,"
              + " digest, rows, loaded, rows - loaded - filtered as rejected, filtered, done,"
              + " changed_at from kakehashi_bulk.load_positions where owner = current_user::text",
          "grant usage on schema kakehashi_bulk to public",
          "grant select on kakehashi_bulk.load_parts to public");

  private static final int[] KEY = {TypeOid.TEXT, TypeOid.TEXT};

  private static final int[] POSITION = {
    TypeOid.TEXT,
    TypeOid.TEXT,
    TypeOid.INT8,
    TypeOid.TEXT,
    TypeOid.TEXT,
    TypeOid.INT8,
    TypeOid.INT8,
    TypeOid.INT8,
    TypeOid.BOOL
  };

  private static final int MAX_PARAMETER_BYTES = 1 << 16;

  private final String owner;
  private final String loadId;
  private final String table;
  private final String digest;
  private final Prepared.Planned write;
  private final Prepared.Planned register;
  private final Prepared.Planned lock;
  private final Prepared.Planned read;

  /// Which files a load is of.
  ///
  /// @param done whether it has ended
  record Known(String table, String digest, boolean done) {}

  /// @param owner role of the load
  /// @param table of the load, with its schema
  /// @param digest of its files, hexadecimal
  LoadLog(
      LoadEngine engine,
      CatalogSnapshot catalog,
      String owner,
      String loadId,
      String table,
      String digest) {
    this.owner = owner;
    this.loadId = loadId;
    this.table = table;
    this.digest = digest;
    String insert =
        "insert into kakehashi_bulk.load_positions values"
            + " ($1, $2, $3, $4, $5, $6, $7, $8, $9, now()) on conflict ";
    this.register = engine.plan(insert + "do nothing", POSITION, catalog);
    this.write =
        engine.plan(
            insert
                + "(owner, load_id, part) do update set rows = excluded.rows,"
                + " loaded = excluded.loaded, filtered = excluded.filtered, done = excluded.done,"
                + " changed_at = excluded.changed_at",
            POSITION,
            catalog);
    String of = " from kakehashi_bulk.load_positions where owner = $1 and load_id = $2 and part ";
    this.lock =
        engine.plan(
            "select table_name, digest, done" + of + "= -1 for update nowait", KEY, catalog);
    this.read =
        engine.plan("select part, rows, loaded, filtered, done" + of + ">= 0", KEY, catalog);
  }

  static boolean exists(CatalogSnapshot catalog) {
    return catalog.table(SCHEMA, TABLE) != null && catalog.view(SCHEMA, "load_parts") != null;
  }

  /// Tables to be locked by who writes it.
  long[] tables() {
    return write.tables();
  }

  /// Says that there is such a load, if nobody has said so.
  Task register(
      StatementExecution execution, BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return run(register, position(-1, PartPosition.BEGIN), execution, new CollectedResult(), done);
  }

  /// Reads which files the load is of, and keeps other runs of it away until the transaction ends.
  Task lock(
      StatementExecution execution,
      CollectedResult result,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return run(lock, key(), execution, result, done);
  }

  static @Nullable Known known(CollectedResult result) {
    Known[] found = new Known[1];
    result.forEach(row ->
        found[0] = new Known(row.getString(0, 0), row.getString(0, 1), row.getBoolean(0, 2)));
    return found[0];
  }

  /// Reads how far its parts are.
  Task read(
      StatementExecution execution,
      CollectedResult result,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return run(read, key(), execution, result, done);
  }

  static Map<Long, PartPosition> positions(CollectedResult result) {
    Map<Long, PartPosition> positions = new TreeMap<>();
    result.forEach((RowBatchReader rows) -> {
      for (int r = 0; r < rows.rowCount(); r++) {
        positions.put(
            rows.getLong(r, 0),
            new PartPosition(
                rows.getLong(r, 1), rows.getLong(r, 2), rows.getLong(r, 3), rows.getBoolean(r, 4)));
      }
    });
    return positions;
  }

  /// Writes how far a part is.
  Task write(
      long part,
      PartPosition position,
      StatementExecution execution,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return run(write, position(part, position), execution, new CollectedResult(), done);
  }

  private static Task run(
      Prepared.Planned plan,
      MemorySegment parameters,
      StatementExecution execution,
      CollectedResult result,
      BiConsumer<@Nullable Long, @Nullable EngineException> done) {
    return PlanRunner.of(plan.plan(), plan.parameterOids())
        .execute(execution, new ParameterBatch(parameters, 1), result, done);
  }

  private MemorySegment key() {
    RowBatchWriter row = row(KEY.length);
    row.setString(0, owner);
    row.setString(1, loadId);
    return finished(row);
  }

  private MemorySegment position(long part, PartPosition position) {
    RowBatchWriter row = row(POSITION.length);
    row.setString(0, owner);
    row.setString(1, loadId);
    row.setLong(2, part);
    row.setString(3, table);
    row.setString(4, digest);
    row.setLong(5, position.rows());
    row.setLong(6, position.loaded());
    row.setLong(7, position.filtered());
    row.setBoolean(8, position.done());
    return finished(row);
  }

  private static RowBatchWriter row(int columns) {
    RowBatchWriter writer =
        RowBatchWriter.fixed(Arena.ofAuto().allocate(MAX_PARAMETER_BYTES, 8), columns, 1);
    writer.addRow();
    return writer;
  }

  private static MemorySegment finished(RowBatchWriter row) {
    row.finish();
    return row.batch();
  }
}
