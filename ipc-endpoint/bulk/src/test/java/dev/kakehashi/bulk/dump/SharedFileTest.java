package dev.kakehashi.bulk.dump;

import static dev.kakehashi.bulk.BulkDirectories.option;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.BulkDirectories;
import dev.kakehashi.bulk.BulkFiles;
import dev.kakehashi.bulk.file.NewFile;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Several threads write one file at the same time, whole rows each.
@Timeout(60)
class SharedFileTest {
  private static final int WRITERS = 4;
  private static final int BATCHES = 20;
  private static final int ROWS = 250;

  /// So long that a piece of a text file does not have it.
  private static final int LONG_TEXT = 700_000;

  @TempDir Path root;
  private BulkDirectories places;
  private BulkFiles files;

  @BeforeEach
  void open() throws IOException {
    places = new BulkDirectories(root);
    files = places.open();
  }

  @AfterEach
  void shouldGiveAllMemoryBack() {
    assertEquals(0, places.memory.get());
  }

  private static CopyRequest request(String format, CopyRequest.Option... more) {
    List<CopyRequest.Option> options = new ArrayList<>(List.of(more));
    options.add(option("format", format));
    return new CopyRequest("both:shared", options);
  }

  private DumpTarget target(CopyRequest request) {
    return files
        .dump(request)
        .open(
            BulkDirectories.COLUMNS,
            "SELECT * FROM t",
            places.user,
            places,
            (bytes, from, count) -> {
              throw new AssertionError("no stream is written to");
            });
  }

  private static String name(int id) {
    return switch (id % 1000) {
      case 1 -> "";
      case 2 -> "\"quoted\", in\ntwo lines\t" + id;
      case 3 -> "long ".repeat(LONG_TEXT / 5) + id;
      default -> "name " + id;
    };
  }

  private static MemorySegment batch(int first) {
    RowBatchWriter writer = RowBatchWriter.growable(2, ROWS, 8 << 20);
    for (int id = first; id < first + ROWS; id++) {
      assertTrue(writer.addRow());
      writer.setLong(0, id);
      assertTrue(writer.setString(1, name(id)));
    }
    int ignored = writer.finish();
    return writer.batch();
  }

  private static void write(DumpTarget.Writer writer, int number) {
    for (int i = 0; i < BATCHES; i++) {
      writer.rows(batch((number * BATCHES + i) * ROWS));
    }
  }

  private List<DumpTarget.DumpedFile> dump(CopyRequest request)
      throws InterruptedException, ExecutionException {
    try (DumpTarget target = target(request);
        ExecutorService threads = Executors.newFixedThreadPool(WRITERS)) {
      assertTrue(target.isParallel());
      List<DumpTarget.Writer> writers = new ArrayList<>();
      List<Future<?>> written = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int number = i;
        DumpTarget.Writer writer = target.writer(i);
        writers.add(writer);
        written.add(threads.submit(() -> write(writer, number)));
      }
      for (Future<?> each : written) {
        each.get();
      }
      writers.forEach(DumpTarget.Writer::close);
      return target.finish();
    }
  }

  private Map<Integer, String> load(CopyRequest request) {
    Map<Integer, String> rows = new TreeMap<>();
    try (LoadSource source = places.load(files, request)) {
      for (LoadPart part = source.next(); part != null; part = source.next()) {
        try (LoadPart each = part) {
          for (MemorySegment batch = each.next(); batch != null; batch = each.next()) {
            RowBatchReader reader = new RowBatchReader().wrap(batch);
            for (int row = 0; row < reader.rowCount(); row++) {
              rows.put(reader.getInt(row, 0), reader.getString(row, 1));
            }
          }
        }
      }
      assertEquals(WRITERS * BATCHES * ROWS, source.finish().rows());
    }
    return rows;
  }

  @ParameterizedTest
  @ValueSource(strings = {"csv", "text", "parquet", "arrow", "arrow_stream"})
  void shouldHaveEachRowOfEachWriterOnce(String format) throws Exception {
    List<DumpTarget.DumpedFile> dumped = dump(request(format));
    byte[] bytes = Files.readAllBytes(places.both.resolve("shared"));
    assertEquals(
        List.of(
            new DumpTarget.DumpedFile(
                "both:shared",
                WRITERS * BATCHES * ROWS,
                bytes.length,
                HexFormat.of().formatHex(NewFile.sha256().digest(bytes)))),
        dumped);
    Map<Integer, String> rows = load(request(format));
    assertEquals(WRITERS * BATCHES * ROWS, rows.size());
    rows.forEach((id, name) -> assertEquals(name(id), name));
  }

  @Test
  void shouldHaveTheHeaderFirst() throws Exception {
    CopyRequest request = request("csv", option("header", "true"));
    List<DumpTarget.DumpedFile> ignored = dump(request);
    try (var lines = Files.lines(places.both.resolve("shared"))) {
      assertEquals("id,name", lines.findFirst().orElseThrow());
    }
    assertEquals(WRITERS * BATCHES * ROWS, load(request).size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"csv", "parquet", "arrow"})
  void shouldLeaveNothingWhenGivenUp(String format) throws IOException {
    try (DumpTarget target = target(request(format))) {
      target.writer(0).rows(batch(0));
      target.writer(1).rows(batch(ROWS));
    }
    try (var left = Files.list(places.both)) {
      assertEquals(0, left.count());
    }
  }

  @Test
  void shouldNotShareACompressedTextFile() {
    try (DumpTarget target = target(request("csv", option("compression", "gzip")))) {
      assertFalse(target.isParallel());
    }
  }
}
