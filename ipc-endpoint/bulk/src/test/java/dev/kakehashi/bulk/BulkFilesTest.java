package dev.kakehashi.bulk;

import static dev.kakehashi.bulk.BulkDirectories.option;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.option.BulkFormat;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.RowBatchWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each format through each way that files come and go.
class BulkFilesTest {
  private static final int ROWS = 5_000;

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

  private static String name(int id) {
    return id % 5 == 0 ? "" : "name, \"" + id % 3 + "\"";
  }

  /// Rows sorted by name, as the engine brings them for partitions.
  private static void write(DumpTarget target) {
    List<Integer> ids = new ArrayList<>();
    for (int id = 0; id < ROWS; id++) {
      ids.add(id);
    }
    ids.sort(Comparator.comparing(id -> id % 7 == 0 ? "~" : name(id)));
    RowBatchWriter writer = RowBatchWriter.growable(2, 1_000, 1 << 20);
    try (DumpTarget.Writer out = target.writer(0)) {
      for (int id : ids) {
        assertTrue(writer.addRow());
        writer.setLong(0, id);
        if (id % 7 == 0) {
          writer.setNull(1);
        } else {
          assertTrue(writer.setString(1, name(id)));
        }
        if (writer.rowCount() == 1_000) {
          int ignored = writer.finish();
          out.rows(writer.batch());
          writer.reset();
        }
      }
    }
  }

  private List<DumpTarget.DumpedFile> dump(
      String location, ByteArrayOutputStream stream, CopyRequest.Option... options) {
    try (DumpTarget target =
        files
            .dump(new CopyRequest(location, List.of(options)))
            .open(BulkDirectories.COLUMNS, "t", places.user, places, stream::write)) {
      write(target);
      return target.finish();
    }
  }

  private void checkLoad(String location, CopyRequest.Option... options) {
    int rows = 0;
    try (LoadSource source = places.load(files, new CopyRequest(location, List.of(options)))) {
      for (LoadPart part = source.next(); part != null; part = source.next()) {
        try (LoadPart each = part) {
          for (MemorySegment batch = each.next(); batch != null; batch = each.next()) {
            RowBatchReader reader = new RowBatchReader().wrap(batch);
            for (int row = 0; row < reader.rowCount(); row++, rows++) {
              int id = reader.getInt(row, 0);
              assertEquals(id % 7 == 0, reader.isNull(row, 1));
              if (id % 7 != 0) {
                assertEquals(name(id), reader.getString(row, 1));
              }
            }
          }
        }
      }
      assertEquals(ROWS, rows);
      assertEquals(ROWS, source.finish().rows());
      assertEquals(source.totalBytes(), source.readBytes());
    }
  }

  @ParameterizedTest
  @EnumSource(value = BulkFormat.class, mode = EnumSource.Mode.EXCLUDE, names = "JSON")
  void shouldBringRowsBackAsTheyWere(BulkFormat format) throws IOException {
    CopyRequest.Option chosen = option("format", format.key());
    ByteArrayOutputStream nothing = new ByteArrayOutputStream();
    String one = "both:x." + format.ending();
    assertEquals(ROWS, dump(one, nothing, chosen).getFirst().rows());
    checkLoad(one, chosen);
    if (!format.isText()) {
      checkLoad(one);
    }
    List<DumpTarget.DumpedFile> many = dump("both:d/", nothing, chosen, option("file_size", "1kB"));
    assertTrue(many.size() > 1, many.toString());
    checkLoad("both:d/data_*", chosen);
    dump("both:p/", nothing, chosen, option("partition_by", "name"));
    checkLoad("both:p/name=*/data_*." + format.ending(), chosen);
    assertEquals(0, nothing.size());
  }

  @ParameterizedTest
  @EnumSource(
      value = BulkFormat.class,
      names = {"PARQUET", "ARROW"})
  void shouldNameTheFileThatIsCut(BulkFormat format) throws IOException {
    CopyRequest.Option chosen = option("format", format.key());
    String name = "x." + format.ending();
    String one = "both:" + name;
    dump(one, new ByteArrayOutputStream(), chosen);
    byte[] whole = Files.readAllBytes(places.both.resolve(name));
    for (int length : new int[] {3, 20, whole.length / 2, whole.length - 1}) {
      Files.write(places.both.resolve(name), Arrays.copyOf(whole, length));
      CopyRequest request = new CopyRequest(one, List.of(chosen));
      for (Executable use :
          List.<Executable>of(
              () -> places.load(files, request),
              () -> files.inspect(request, places.user, places))) {
        EngineException refused = assertThrows(EngineException.class, use);
        assertEquals(ErrorCode.BAD_COPY_FILE_FORMAT, refused.code(), () -> "cut at " + length);
        String said = refused.getMessage() + " " + refused.detail();
        assertTrue(said.contains("\"" + one + "\""), said);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(value = BulkFormat.class, mode = EnumSource.Mode.EXCLUDE, names = "JSON")
  void shouldLoadTheBytesOfAStreamAndOfAnUpload(BulkFormat format) throws IOException {
    CopyRequest.Option chosen = option("format", format.key());
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    DumpTarget.DumpedFile dumped = dump("", stream, chosen).getFirst();
    assertEquals(stream.size(), dumped.bytes());
    byte[] bytes = stream.toByteArray();
    checkLoad("stream:" + files.stream("anna", new ByteArrayInputStream(bytes)), chosen);
    String id = files.uploads().begin("anna");
    long length = files.uploads().append("anna", id, 0, MemorySegment.ofArray(bytes));
    assertEquals(bytes.length, length);
    checkLoad("upload:" + id, chosen);
  }

  @ParameterizedTest
  @EnumSource(value = BulkFormat.class, mode = EnumSource.Mode.EXCLUDE, names = "JSON")
  void shouldProposeACopyThatLoads(BulkFormat format) throws IOException {
    CopyRequest.Option chosen = option("format", format.key());
    String one = "both:x." + format.ending();
    List<DumpTarget.DumpedFile> dumped = dump(one, new ByteArrayOutputStream(), chosen);
    assertEquals(1, dumped.size());
    List<String> kinds = new ArrayList<>();
    List<InspectedItem> items =
        files.inspect(new CopyRequest(one, List.of(chosen)), places.user, places);
    items.forEach(item -> kinds.add(item.kind()));
    assertTrue(kinds.contains("file"), items.toString());
    assertTrue(kinds.contains("column"), items.toString());
    assertEquals(List.of("create table", "copy"), kinds.subList(kinds.size() - 2, kinds.size()));
    assertTrue(items.getLast().value().contains("FORMAT " + format.key()));
  }
}
