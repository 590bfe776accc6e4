package dev.kakehashi.fuzz;

import dev.kakehashi.bulk.arrow.ArrowFormat;
import dev.kakehashi.bulk.arrow.ArrowOptions;
import dev.kakehashi.bulk.format.FileFormat;
import dev.kakehashi.bulk.format.FileInput;
import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.parquet.ParquetFormat;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.formats.TypeName;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.TypeOid;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// A file of rows: its listing, then its rows with bad ones left out. Whatever it delivers are whole batches, and no memory stays reserved.
final class RowsTarget implements FuzzTarget {
  private static final int MAX_ROWS = 1 << 16;
  private static final long MEMORY_BYTES = 64L << 20;

  /// Columns of many types, named by letters so that a fuzzer finds them.
  static final List<LoadColumn> COLUMNS = columns();

  private final FileFormat format;

  RowsTarget(FileFormat format) {
    this.format = format;
  }

  static RowsTarget parquet() {
    return new RowsTarget(new ParquetFormat(ParquetOptions.DEFAULT));
  }

  static RowsTarget arrow() {
    return new RowsTarget(new ArrowFormat(ArrowOptions.DEFAULT));
  }

  private static List<LoadColumn> columns() {
    int[] types = {
      TypeOid.INT4,
      TypeOid.TEXT,
      TypeOid.INT8,
      TypeOid.FLOAT8,
      TypeOid.NUMERIC,
      TypeOid.BOOL,
      TypeOid.DATE,
      TypeOid.TIMESTAMP,
      TypeOid.TIMESTAMPTZ,
      TypeOid.INTERVAL,
      TypeOid.UUID,
      TypeOid.BYTEA,
      TypeOid.JSONB,
      TypeOid.INT2,
      TypeOid.TIME,
      TypeOid.FLOAT4,
      TypeOid.TIMETZ
    };
    List<LoadColumn> columns = new ArrayList<>();
    for (int i = 0; i < types.length; i++) {
      String name = Character.toString('a' + i);
      columns.add(new LoadColumn(name, types[i], -1, TypeName.of(types[i], -1), true, List.of()));
    }
    return List.copyOf(columns);
  }

  @Override
  public void run(byte[] input) {
    Memory memory = new Memory();
    FileInput file = new Bytes(input);
    try {
      format.inspect(file, memory);
    } catch (EngineException e) {
      require(Verdict.isRefusal(e), e);
    }
    memory.requireGivenBack();
    try {
      read(file, memory);
    } finally {
      memory.requireGivenBack();
    }
  }

  private void read(FileInput file, Memory memory) {
    try (RowsFile rows = format.read(file, COLUMNS, false, memory)) {
      int[] types = new int[rows.columns().length];
      for (int i = 0; i < types.length; i++) {
        types[i] = COLUMNS.get(rows.columns()[i]).typeOid();
      }
      long count = 0;
      for (RowsPart part = rows.next(); part != null && count < MAX_ROWS; part = rows.next()) {
        try (RowsPart open = part) {
          for (MemorySegment batch = open.next(RowsTarget::rejected);
              batch != null && count < MAX_ROWS;
              batch = open.next(RowsTarget::rejected)) {
            RowBatchReader reader = new RowBatchReader().wrap(batch);
            reader.checkValues(types);
            count += reader.rowCount();
          }
        }
      }
    }
  }

  private static void rejected(dev.kakehashi.bulk.format.RowOrigin origin, EngineException e) {
    require(origin.line() > 0 && Verdict.isRefusal(e), e);
  }

  private static void require(boolean holds, Throwable otherwise) {
    if (!holds) {
      throw new AssertionError("finding: " + otherwise, otherwise);
    }
  }

  /// A file in memory.
  private record Bytes(byte[] content) implements FileInput {
    @Override
    public String name() {
      return "fuzz:file";
    }

    @Override
    public long sizeBytes() {
      return content.length;
    }

    @Override
    public void read(long offset, MemorySegment into) {
      if (offset < 0 || into.byteSize() > content.length - offset) {
        throw new EngineException(ErrorCode.BAD_COPY_FILE_FORMAT, "file ends before");
      }
      MemorySegment.copy(MemorySegment.ofArray(content), offset, into, 0, into.byteSize());
    }
  }

  /// A statement that may have some memory.
  private static final class Memory implements BulkContext {
    private long reserved;

    @Override
    public void checkCanceled() {}

    @Override
    public void reserveMemory(long bytes) {
      if (bytes < 0 || bytes > MEMORY_BYTES - reserved) {
        throw new EngineException(ErrorCode.OUT_OF_MEMORY, "no memory for " + bytes + " bytes");
      }
      reserved += bytes;
    }

    @Override
    public void releaseMemory(long bytes) {
      reserved -= bytes;
    }

    /// The same for each run of an input.
    @Override
    public long now() {
      return 0;
    }

    void requireGivenBack() {
      if (reserved != 0) {
        throw new AssertionError(reserved + " bytes are still reserved");
      }
    }
  }
}
