package dev.kakehashi.bulk.parquet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.format.RowsFile;
import dev.kakehashi.bulk.format.RowsPart;
import dev.kakehashi.bulk.parquet.page.ParquetCodec;
import dev.kakehashi.bulk.parquet.page.ParquetOptions;
import dev.kakehashi.bulk.parquet.page.ParquetOptions.Infinity;
import dev.kakehashi.bulk.value.BudgetContext;
import dev.kakehashi.bulk.value.MemoryFile;
import dev.kakehashi.engine.api.bulk.BulkContext;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.valuetext.time.Clock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParquetDamageTest {
  private static final int MUTATIONS = Integer.getInteger("kakehashi.parquet.mutations", 2500);
  private static final long MEMORY = 64L << 20;
  private static final long SECONDS = 10;
  private static final int MAX_ROWS = 1 << 20;
  private static final int FOOTER_TAIL = 8;
  private static final Set<String> ALLOWED_CLASSES = Set.of("22", "0A");

  @TempDir private Path directory;

  private static ParquetOptions options(ParquetCodec codec) {
    return new ParquetOptions(
        1024, codec, Map.of(), null, Set.of(), Infinity.REFUSE, false, false, false);
  }

  /// Ends a read that takes too long.
  private static final class Impatient implements BulkContext {
    private final BudgetContext memory = new BudgetContext(MEMORY);
    private final long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);

    @Override
    public void checkCanceled() {
      assertTrue(System.nanoTime() < end, "a damaged file is read for too long");
    }

    @Override
    public void reserveMemory(long bytes) {
      memory.reserveMemory(bytes);
    }

    @Override
    public long now() {
      return Clock.now();
    }

    @Override
    public void releaseMemory(long bytes) {
      memory.releaseMemory(bytes);
    }
  }

  /// Reads all that can be read, and checks that batches are whole.
  private static void read(byte[] bytes, List<LoadColumn> columns) {
    Impatient context = new Impatient();
    try (RowsFile in =
        new ParquetFormat(ParquetOptions.DEFAULT)
            .read(new MemoryFile(bytes), columns, false, context)) {
      List<LoadColumn> there = new ArrayList<>();
      for (int column : in.columns()) {
        there.add(columns.get(column));
      }
      int[] types = there.stream().mapToInt(LoadColumn::typeOid).toArray();
      long rows = 0;
      for (RowsPart part = in.next(); part != null && rows < MAX_ROWS; part = in.next()) {
        try (RowsPart open = part) {
          MemorySegment batch = open.next((origin, failure) -> assertTrue(origin.line() > 0));
          while (batch != null && rows < MAX_ROWS) {
            RowBatchReader reader = new RowBatchReader().wrap(batch);
            reader.checkValues(types);
            rows += reader.rowCount();
            batch = open.next((origin, failure) -> assertTrue(origin.line() > 0));
          }
        }
      }
    } catch (EngineException e) {
      String sqlState = e.code().sqlstate();
      assertTrue(
          ALLOWED_CLASSES.contains(sqlState.substring(0, 2))
              || e.code() == ErrorCode.UNDEFINED_COLUMN
              || e.code() == ErrorCode.AMBIGUOUS_COLUMN
              || e.code() == ErrorCode.DATATYPE_MISMATCH,
          () -> sqlState + " " + e.getMessage());
    }
    assertEquals(0, context.memory.reserved(), "memory came back");
  }

  private byte[] duckDbFile(String options) throws SQLException, IOException {
    Path path = directory.resolve("duck.parquet");
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
        Statement statement = duck.createStatement()) {
      statement.execute(
          """
          COPY (SELECT i::integer AS i4, i * 7 AS i8, (i / 3)::double AS f8, 'row ' || (i %% 9) AS s,
              md5(i::varchar) AS vc, i %% 2 = 0 AS b, (i / 10)::decimal(38,10) AS n38,
              DATE '2000-01-01' + i::integer AS d, [i::integer, NULL] AS ai, [i::varchar] AS "as", uuid() AS u
            FROM range(300) r(i)) TO '%s' (FORMAT parquet, %s)
          """
              .formatted(path, options));
    }
    return Files.readAllBytes(path);
  }

  private static byte[] damaged(byte[] file, Random random) {
    byte[] bytes = file.clone();
    int footer =
        FOOTER_TAIL
            + ((bytes[bytes.length - 8] & 0xFF)
                | (bytes[bytes.length - 7] & 0xFF) << 8
                | (bytes[bytes.length - 6] & 0xFF) << 16);
    switch (random.nextInt(8)) {
      case 0 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
      case 1 -> {
        // A piece is missing, so what follows is elsewhere than its offsets say.
        int at = random.nextInt(bytes.length - 1);
        int gone = 1 + random.nextInt(Math.min(64, bytes.length - at - 1));
        byte[] shorter = Arrays.copyOf(bytes, bytes.length - gone);
        System.arraycopy(bytes, at + gone, shorter, at, bytes.length - at - gone);
        bytes = shorter;
      }
      case 2 -> {
        // A number becomes as large as can be.
        int at = bytes.length - footer + random.nextInt(footer - 5);
        for (int i = 0; i < 4; i++) {
          bytes[at + i] = -1;
        }
        bytes[at + 4] = (byte) random.nextInt(128);
      }
      case 3, 4, 5 -> {
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
          bytes[bytes.length - 1 - random.nextInt(footer)] = (byte) random.nextInt(256);
        }
      }
      default -> {
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
          int at = random.nextInt(bytes.length);
          bytes[at] ^= (byte) (1 << random.nextInt(8));
        }
      }
    }
    return bytes;
  }

  @Test
  void shouldRefuseDamagedFilesOrReadWholeRows() throws Exception {
    List<LoadColumn> columns = ParquetTable.allTypes();
    List<byte[]> files = new ArrayList<>();
    int number = 0;
    for (ParquetCodec codec : List.of(ParquetCodec.UNCOMPRESSED, ParquetCodec.ZSTD)) {
      ParquetTable table = new ParquetTable(number++);
      files.add(
          ParquetFiles.write(
                  columns, options(codec), List.of(table.rows(columns, 120, 20, number * 7)))
              .bytes());
    }
    // Without checksums, so that damage reaches values.
    for (String codec : List.of("uncompressed", "snappy", "zstd", "gzip", "lz4_raw")) {
      files.add(duckDbFile("CODEC " + codec));
      files.add(duckDbFile("PARQUET_VERSION v2, CODEC " + codec));
    }
    Random random = new Random(27);
    for (int i = 0; i < MUTATIONS; i++) {
      byte[] file = files.get(i % files.size());
      long seed = random.nextLong();
      byte[] bytes = damaged(file, new Random(seed));
      try {
        read(bytes, columns);
      } catch (RuntimeException | AssertionError | OutOfMemoryError e) {
        throw new AssertionError("mutation " + i + " of file " + i % files.size(), e);
      }
    }
  }

  @Test
  void shouldRefuseAPageWhoseChecksumIsWrong() {
    List<LoadColumn> columns = ParquetTable.allTypes().subList(0, 4);
    ParquetTable table = new ParquetTable(3);
    byte[] bytes =
        ParquetFiles.write(
                columns,
                options(ParquetCodec.UNCOMPRESSED),
                List.of(table.rows(columns, 100, 0, 0)))
            .bytes();
    bytes[100] ^= 1;
    EngineException refused =
        assertThrows(
            EngineException.class,
            () -> ParquetFiles.read(new MemoryFile(bytes), columns, ParquetOptions.DEFAULT));
    assertEquals(ErrorCode.BAD_COPY_FILE_FORMAT, refused.code());
  }
}
