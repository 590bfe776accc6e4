package dev.kakehashi.bulk.load;

import static dev.kakehashi.bulk.BulkDirectories.option;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.BulkDirectories;
import dev.kakehashi.bulk.BulkFiles;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Rows of a part that are read again: the load is as if they had been read once.
class ReadAgainTest {
  private static final int ROWS = Integer.getInteger("kakehashi.bulk.rows", 10_000);

  @TempDir Path root;
  private BulkDirectories places;
  private BulkFiles files;
  private final long seed = Long.getLong("kakehashi.seed", System.nanoTime());

  /// Outcome of a load.
  ///
  /// @param rewinds how often it has gone back
  private record Outcome(
      List<Integer> loaded, long rows, long rejected, String rejects, int rewinds) {}

  @BeforeEach
  void open() throws IOException {
    places = new BulkDirectories(root);
    files = places.open();
  }

  @AfterEach
  void shouldGiveAllMemoryBack() {
    assertEquals(0, places.memory.get());
  }

  /// Some stretches of rows have numbers that are too great for the table.
  private void dump(String format, Random random) {
    List<LoadColumn> columns =
        List.of(
            new LoadColumn("id", TypeOid.INT8, -1, "bigint", false, List.of()),
            BulkDirectories.COLUMNS.get(1));
    CopyRequest request =
        new CopyRequest("both:x", List.of(option("format", format), option("workers", "1")));
    try (DumpTarget target =
        files
            .dump(request)
            .open(
                columns,
                "t",
                places.user,
                places,
                (bytes, from, count) -> {
                  throw new AssertionError("no stream is written to");
                })) {
      try (DumpTarget.Writer writer = target.writer(0)) {
        for (int first = 0; first < ROWS; first += 1000) {
          RowBatchWriter batch = RowBatchWriter.growable(2, 1000, 1 << 20);
          boolean bad = first == 3000 || random.nextInt(3) == 0;
          for (int i = first; i < first + 1000; i++) {
            assertTrue(batch.addRow());
            batch.setLong(0, bad && random.nextInt(50) == 0 ? i + (1L << 40) : i);
            assertTrue(batch.setString(1, "row ".repeat(random.nextInt(4)) + i));
          }
          int ignored = batch.finish();
          writer.rows(batch.batch());
        }
      }
      List<DumpTarget.DumpedFile> ignored = target.finish();
    }
  }

  private Outcome load(String format, Random random, boolean goesBack) throws IOException {
    CopyRequest request =
        new CopyRequest(
            "both:x",
            List.of(
                option("format", format),
                option("on_error", "ignore"),
                option("reject_file", "out:rejected.csv")));
    List<Integer> loaded = new ArrayList<>();
    int rewinds = 0;
    Outcome outcome;
    try (LoadSource source = places.load(files, request)) {
      for (LoadPart part = source.next(); part != null; part = source.next()) {
        try (LoadPart each = part) {
          rewinds += read(each, loaded, random, goesBack);
        }
      }
      LoadSource.LoadSummary summary = source.finish();
      outcome = new Outcome(loaded, summary.rows(), summary.rejected(), "", rewinds);
    }
    Path rejects = places.out.resolve("rejected.csv");
    String text = Files.readString(rejects);
    Files.delete(rejects);
    return new Outcome(loaded, outcome.rows, outcome.rejected, text, rewinds);
  }

  private static int read(LoadPart part, List<Integer> loaded, Random random, boolean goesBack) {
    int rewinds = 0;
    if (goesBack) {
      part.mark(0);
    }
    int marked = loaded.size();
    while (true) {
      long before = part.rows();
      MemorySegment batch = part.next();
      RowBatchReader reader = batch == null ? null : new RowBatchReader().wrap(batch);
      int rows = reader == null ? 0 : reader.rowCount();
      boolean whole = part.rows() - before == rows;
      int stop = goesBack && whole && rows > 0 ? random.nextInt(rows) : -1;
      for (int row = 0; reader != null && row < rows; row++) {
        if (row == stop) {
          part.mark(before + row);
          marked = loaded.size();
        }
        int id = reader.getInt(row, 0);
        if (id % 11 == 0) {
          part.reject(row, new EngineException(ErrorCode.CHECK_VIOLATION, "no"));
        } else {
          loaded.add(id);
        }
      }
      boolean atEnd = batch == null && rewinds == 0;
      if (goesBack && rewinds < 100 && (atEnd || random.nextInt(3) == 0)) {
        rewinds++;
        part.rewind();
        loaded.subList(marked, loaded.size()).clear();
      } else if (batch == null) {
        return rewinds;
      } else if (goesBack && random.nextBoolean()) {
        part.mark(part.rows());
        marked = loaded.size();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"csv", "text", "parquet", "arrow", "arrow_stream"})
  void shouldLoadAndRejectEachRowOnce(String format) throws IOException {
    Random random = new Random(seed);
    dump(format, random);
    Outcome once = load(format, random, false);
    assertEquals(ROWS, once.rows);
    assertEquals(ROWS - once.loaded.size(), once.rejected);
    assertTrue(once.rejects.contains("22003") || once.rejects.contains("22P02"), "seed " + seed);
    Outcome again = load(format, random, true);
    assertTrue(again.rewinds > 0, () -> "seed " + seed);
    assertEquals(
        once,
        new Outcome(again.loaded, again.rows, again.rejected, again.rejects, 0),
        () -> "seed " + seed);
  }
}
