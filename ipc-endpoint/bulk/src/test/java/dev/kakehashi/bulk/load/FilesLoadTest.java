package dev.kakehashi.bulk.load;

import static dev.kakehashi.bulk.BulkDirectories.csv;
import static dev.kakehashi.bulk.BulkDirectories.option;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.BulkDirectories;
import dev.kakehashi.bulk.BulkFiles;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.InspectedItem;
import dev.kakehashi.engine.api.bulk.LoadColumn;
import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import dev.kakehashi.protocol.TypeOid;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilesLoadTest {
  private static final int MANY_ROWS = Integer.getInteger("kakehashi.bulk.rows", 10_000);

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

  private static List<String> rows(MemorySegment batch) {
    RowBatchReader reader = new RowBatchReader().wrap(batch);
    List<String> rows = new ArrayList<>();
    for (int row = 0; row < reader.rowCount(); row++) {
      rows.add(
          reader.getInt(row, 0) + "=" + (reader.isNull(row, 1) ? null : reader.getString(row, 1)));
    }
    return rows;
  }

  private static List<String> rows(LoadPart part) {
    List<String> rows = new ArrayList<>();
    for (MemorySegment batch = part.next(); batch != null; batch = part.next()) {
      rows.addAll(rows(batch));
    }
    return rows;
  }

  private static List<String> rows(LoadSource source) {
    List<String> rows = new ArrayList<>();
    for (LoadPart part = source.next(); part != null; part = source.next()) {
      try (LoadPart each = part) {
        rows.addAll(rows(each));
      }
    }
    return rows;
  }

  private EngineException refused(CopyRequest request) {
    return assertThrows(
        EngineException.class,
        () -> {
          try (LoadSource source = places.load(files, request)) {
            List<String> ignored = rows(source);
            LoadSource.LoadSummary _ = source.finish();
          }
        });
  }

  private void write(String name, String content) throws IOException {
    Files.writeString(places.both.resolve(name), content);
  }

  @Test
  void shouldReadFilesInTheOrderOfTheirNames() throws IOException {
    write("b.csv", "3,three\n4,\n");
    write("a.csv", "1,one\n2,two");
    try (LoadSource source = places.load(files, csv("both:*.csv"))) {
      assertArrayEquals(new int[] {0, 1}, source.columns());
      assertEquals(22, source.totalBytes());
      assertEquals(List.of("1=one", "2=two", "3=three", "4=null"), rows(source));
      assertEquals(source.totalBytes(), source.readBytes());
      LoadSource.LoadSummary summary = source.finish();
      assertEquals(4, summary.rows());
      assertEquals(0, summary.rejected());
      assertNull(summary.rejectFile());
    }
    CopyRequest request = csv("both:", option("files", "b.csv", "a.csv"));
    try (LoadSource source = places.load(files, request)) {
      assertEquals(List.of("3=three", "4=null", "1=one", "2=two"), rows(source));
    }
  }

  @Test
  void shouldSayFileLineAndColumnOfAnError() throws IOException {
    write("a.csv", "1,one\n");
    write("b.csv", "2,two\nx,three\n");
    EngineException e = refused(csv("both:*.csv"));
    assertEquals(ErrorCode.INVALID_TEXT_REPRESENTATION, e.code());
    assertTrue(e.detail().endsWith("File \"both:b.csv\", line 2, column id, byte 6."), e.detail());
  }

  @Test
  void shouldNoticeThatAFileHasChanged() throws IOException {
    write("a.csv", "1,one\n");
    write("b.csv", "2,two\n");
    try (LoadSource source = places.load(files, csv("both:*.csv"))) {
      assertEquals(2, rows(source).size());
      Files.writeString(places.both.resolve("a.csv"), "3,x\n", StandardOpenOption.APPEND);
      EngineException e = assertThrows(EngineException.class, source::finish);
      assertEquals(ErrorCode.NOT_IN_PREREQUISITE_STATE, e.code());
      assertEquals("file \"both:a.csv\" has changed while it was loaded", e.getMessage());
    }
    try (LoadSource source = places.load(files, csv("both:b.csv"))) {
      assertEquals(1, rows(source).size());
      Files.delete(places.both.resolve("b.csv"));
      write("b.csv", "2,two\n");
      assertThrows(EngineException.class, source::finish);
    }
  }

  @Test
  void shouldHaveOneDigestForTheSameNamesAndContents() throws IOException {
    write("a.csv", "1,one\n");
    byte[] first = digest("both:*.csv");
    assertArrayEquals(first, digest("both:a.csv"));
    write("b.csv", "");
    assertFalse(Arrays.equals(first, digest("both:*.csv")));
    write("a.csv", "1,eno\n");
    assertFalse(Arrays.equals(first, digest("both:a.csv")));
  }

  private byte[] digest(String location) {
    try (LoadSource source = places.load(files, csv(location))) {
      return source.digest();
    }
  }

  @Test
  void shouldRefuseFilesOfDifferentColumns() throws IOException {
    write("a.csv", "id,name\n1,one\n");
    write("b.csv", "name,id\ntwo,2\n");
    CopyRequest request = csv("both:*.csv", option("header", "match"));
    EngineException e = refused(request);
    assertTrue(e.code().sqlstate().startsWith("22") || e.code().sqlstate().startsWith("42"));
  }

  /// Rows of two files; each seventh cannot be converted, each eleventh is refused as if it violated a constraint.
  private List<String> writeManyRows() throws IOException {
    List<String> bad = new ArrayList<>();
    // Long, so that a file has several parts.
    String more = "x".repeat(500);
    for (String name : List.of("a.csv", "b.csv")) {
      StringBuilder text = new StringBuilder();
      for (int i = 1; i <= MANY_ROWS; i++) {
        String row =
            (i % 7 == 0 ? "x" + i : Integer.toString(i))
                + ",\"some \"\"text\"\"\n, and more "
                + more
                + "\"";
        if (i % 7 == 0 || i % 11 == 0) {
          bad.add("both:" + name + "|" + (2 * i - 1) + "|" + row);
        }
        text.append(row).append('\n');
      }
      write(name, text.toString());
    }
    return bad;
  }

  @Test
  void shouldWriteRejectedRowsInTheOrderOfTheFilesWhateverEndsFirst() throws IOException {
    List<String> bad = writeManyRows();
    CopyRequest request =
        csv("both:?.csv", option("on_error", "ignore"), option("reject_file", "out:rejected.csv"));
    int parts = 0;
    try (LoadSource source = places.load(files, request)) {
      Random random = new Random(4);
      List<LoadPart> open = new ArrayList<>();
      long loaded = 0;
      LoadPart drawn = source.next();
      while (drawn != null || !open.isEmpty()) {
        if (drawn != null) {
          assertEquals(parts++, drawn.number());
          open.add(drawn);
          drawn = open.size() < 4 ? source.next() : drawn;
        }
        if (open.size() >= 4 || drawn == null) {
          Collections.shuffle(open, random);
          try (LoadPart part = open.removeLast()) {
            loaded += loadTolerantly(part);
          }
          drawn = source.next();
        }
      }
      assertFalse(Files.exists(places.out.resolve("rejected.csv")));
      LoadSource.LoadSummary summary = source.finish();
      assertEquals(2L * MANY_ROWS, summary.rows());
      assertEquals(bad.size(), summary.rejected());
      assertEquals(summary.rows() - bad.size(), loaded);
      assertEquals("out:rejected.csv", summary.rejectFile());
    }
    assertTrue(parts > 2, "one part a file shows no order");
    List<String> written = rejected();
    for (int i = 0; i < Math.min(bad.size(), written.size()); i++) {
      assertEquals(bad.get(i), written.get(i), "row " + i);
    }
    assertEquals(bad.size(), written.size());
    try (Stream<Path> left = Files.list(places.out)) {
      assertEquals(1, left.count());
    }
  }

  private static long loadTolerantly(LoadPart part) {
    long loaded = 0;
    for (MemorySegment batch = part.next(); batch != null; batch = part.next()) {
      RowBatchReader reader = new RowBatchReader().wrap(batch);
      for (int row = 0; row < reader.rowCount(); row++) {
        if (reader.getInt(row, 0) % 11 == 0) {
          part.reject(row, new EngineException(ErrorCode.CHECK_VIOLATION, "violates, \"a\" check"));
        } else {
          loaded++;
        }
      }
    }
    return loaded;
  }

  /// Reads the file of rejected rows by a load, as its users do: file, line and row of each.
  private List<String> rejected() throws IOException {
    Files.copy(places.out.resolve("rejected.csv"), places.in.resolve("rejected.csv"));
    List<LoadColumn> columns = new ArrayList<>();
    for (String name :
        List.of("file", "line", "byte_offset", "column", "sqlstate", "message", "raw_row")) {
      columns.add(new LoadColumn(name, TypeOid.TEXT, -1, "text", true, List.of()));
    }
    List<String> rows = new ArrayList<>();
    CopyRequest request = csv("in:rejected.csv", option("header", "match"));
    try (LoadSource source =
        files.load(request).open("public.r", columns, false, places.user, places)) {
      for (LoadPart part = source.next(); part != null; part = source.next()) {
        try (LoadPart each = part) {
          for (MemorySegment batch = each.next(); batch != null; batch = each.next()) {
            RowBatchReader reader = new RowBatchReader().wrap(batch);
            for (int row = 0; row < reader.rowCount(); row++) {
              String raw = reader.getString(row, 6);
              boolean isUnreadable = raw.startsWith("x");
              assertEquals(isUnreadable ? "22P02" : "23514", reader.getString(row, 4));
              assertEquals(!isUnreadable, reader.isNull(row, 3));
              rows.add(reader.getString(row, 0) + "|" + reader.getString(row, 1) + "|" + raw);
            }
          }
        }
      }
    }
    return rows;
  }

  @Test
  void shouldLoadCorrectedRejectedRowsAgain() throws IOException {
    write("a.csv", "1,one\nx2,\"a \"\"quoted\"\"\ntext\"\n3,three\n");
    CopyRequest request =
        csv("both:a.csv", option("on_error", "ignore"), option("reject_file", "both:r.csv"));
    try (LoadSource source = places.load(files, request)) {
      assertEquals(List.of("1=one", "3=three"), rows(source));
      assertEquals("both:r.csv", source.finish().rejectFile());
    }
    String written = Files.readString(places.both.resolve("r.csv"));
    assertTrue(written.endsWith("\"x2,\"\"a \"\"\"\"quoted\"\"\"\"\ntext\"\"\"\n"), written);
    assertTrue(
        written.startsWith(
            "file,line,byte_offset,column,sqlstate,message,raw_row\n\"both:a.csv\",2,6,\"id\",22P02,\""),
        written);
  }

  @Test
  void shouldEndWhenTooManyRowsAreRejected() throws IOException {
    write("a.csv", "1,one\nx,\ny,\nz,\n5,five\n");
    EngineException e =
        refused(csv("both:a.csv", option("on_error", "ignore"), option("reject_limit", "2")));
    assertEquals("skipped more than REJECT_LIMIT (2) rows due to errors", e.getMessage());
    assertTrue(e.detail().contains("line 4"), e.detail());
    e =
        refused(
            csv(
                "both:a.csv",
                option("on_error", "ignore"),
                option("reject_ratio", "0.5"),
                option("reject_file", "out:r.csv")));
    assertTrue(String.valueOf(e.getMessage()).startsWith("3 of 5 rows"), e.getMessage());
    try (Stream<Path> left = Files.list(places.out)) {
      assertEquals(0, left.count());
    }
    e = refused(csv("both:a.csv", option("reject_limit", "2")));
    assertEquals("COPY REJECT_LIMIT requires ON_ERROR to be set to IGNORE", e.getMessage());
  }

  @Test
  void shouldPassOnWhatIsNoMatterOfARow() throws IOException {
    write("a.csv", "1,one\n");
    CopyRequest request = csv("both:a.csv", option("on_error", "ignore"));
    try (LoadSource source = places.load(files, request)) {
      LoadPart part = requireNonNull(source.next());
      try (part) {
        assertEquals(List.of("1=one"), rows(requireNonNull(part.next())));
        EngineException deadlock =
            new EngineException(ErrorCode.DEADLOCK_DETECTED, "deadlock detected");
        assertThrows(EngineException.class, () -> part.reject(0, deadlock));
      }
    }
  }

  @Test
  void shouldLeaveOutRowsThatAnEarlierRunHasLoadedOrRejected() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 5_000; i++) {
      text.append(i % 10 == 3 ? "x" : i).append(",\"two\nlines\"\n");
    }
    write("a.csv", text.toString());
    CopyRequest request = csv("both:a.csv", option("on_error", "ignore"));
    for (int skipped : List.of(0, 1, 3, 4, 5, 1_733, 4_999, 5_000)) {
      try (LoadSource source = places.load(files, request);
          LoadPart part = requireNonNull(source.next())) {
        part.skip(skipped);
        List<String> expected = new ArrayList<>();
        for (int i = skipped; i < 5_000; i++) {
          if (i % 10 != 3) {
            expected.add(i + "=two\nlines");
          }
        }
        assertEquals(expected, rows(part), "without " + skipped);
        assertEquals(5_000, part.rows());
      }
    }
  }

  @Test
  void shouldRejectTheRightRowAfterRowsThatWereLeftOut() throws IOException {
    write("a.csv", "1,one\nx,\n3,three\n4,four\n");
    CopyRequest request =
        csv("both:a.csv", option("on_error", "ignore"), option("reject_file", "out:r.csv"));
    try (LoadSource source = places.load(files, request)) {
      try (LoadPart part = requireNonNull(source.next())) {
        part.skip(3);
        assertEquals(List.of("4=four"), rows(requireNonNull(part.next())));
        part.reject(0, new EngineException(ErrorCode.CHECK_VIOLATION, "violates"));
      }
      assertNull(source.next());
      assertEquals(2, source.finish().rejected());
    }
    assertTrue(Files.readString(places.out.resolve("r.csv")).contains("\"both:a.csv\",4,"));
  }

  @Test
  void shouldLoadUploadsOfTheRoleAndAStreamOnce() throws IOException {
    String id = files.uploads().begin("anna");
    byte[] bytes = "1,one\n".getBytes(StandardCharsets.UTF_8);
    assertEquals(6, files.uploads().append("anna", id, 0, MemorySegment.ofArray(bytes)));
    for (int i = 0; i < 2; i++) {
      try (LoadSource source = places.load(files, csv("upload:" + id))) {
        assertEquals(List.of("1=one"), rows(source));
        assertEquals(1, source.finish().rows());
      }
    }
    BulkDirectories.Role other = new BulkDirectories.Role("bert");
    EngineException e =
        assertThrows(
            EngineException.class,
            () ->
                files
                    .load(csv("upload:" + id))
                    .open("t", BulkDirectories.COLUMNS, false, other, places));
    assertEquals(ErrorCode.UNDEFINED_FILE, e.code());
    String stream = files.stream("anna", new ByteArrayInputStream(bytes));
    try (LoadSource source = places.load(files, csv("stream:" + stream))) {
      assertEquals(List.of("1=one"), rows(source));
    }
    assertEquals(ErrorCode.UNDEFINED_FILE, refused(csv("stream:" + stream)).code());
  }

  @Test
  void shouldEndWithinAStatementThatIsCanceled() throws IOException {
    write("a.csv", "1,one\n".repeat(100_000));
    try (LoadSource source = places.load(files, csv("both:a.csv"));
        LoadPart part = requireNonNull(source.next())) {
      places.isCanceled = true;
      EngineException e = assertThrows(EngineException.class, part::next);
      assertEquals(ErrorCode.QUERY_CANCELED, e.code());
    }
  }

  @Test
  void shouldCheckOptionsThatBelongTogether() {
    EngineException e =
        assertThrows(
            EngineException.class, () -> files.load(csv("both:a.csv", option("load_id", "x"))));
    assertEquals("load_id needs batch_rows", e.getMessage());
    var control =
        files
            .load(
                csv(
                    "both:a.csv",
                    option("load_id", "x"),
                    option("batch_rows", "1000"),
                    option("workers", "2")))
            .control();
    assertEquals("x", control.loadId());
    assertEquals(1_000, control.batchRows());
    assertEquals(2, control.workers());
    assertEquals(
        ErrorCode.UNDEFINED_OBJECT,
        assertThrows(EngineException.class, () -> files.load(csv("nowhere:a.csv"))).code());
  }

  @Test
  void shouldProposeStatementsForAFile() throws IOException {
    write("a.csv", "id,name\n1,one\n2,two\n");
    List<InspectedItem> items =
        files.inspect(csv("both:a.csv", option("header")), places.user, places);
    List<String> statements = new ArrayList<>();
    for (InspectedItem item : items) {
      if (item.kind().equals("create table") || item.kind().equals("copy")) {
        statements.add(item.value());
      }
    }
    assertEquals(2, statements.size(), items.toString());
    assertEquals("CREATE TABLE loaded (\"id\" bigint, \"name\" text)", statements.getFirst());
    assertTrue(
        statements.getLast().startsWith("COPY loaded FROM 'both:a.csv' WITH (FORMAT csv, header"),
        statements.getLast());
  }
}
