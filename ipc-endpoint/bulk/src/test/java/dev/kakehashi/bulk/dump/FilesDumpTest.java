package dev.kakehashi.bulk.dump;

import static dev.kakehashi.bulk.BulkDirectories.csv;
import static dev.kakehashi.bulk.BulkDirectories.option;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.BulkDirectories;
import dev.kakehashi.bulk.BulkFiles;
import dev.kakehashi.bulk.file.NewFile;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.DumpTarget;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilesDumpTest {
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

  private static MemorySegment batch(int first, @Nullable String... names) {
    RowBatchWriter writer = RowBatchWriter.growable(2, names.length, 1 << 20);
    for (int i = 0; i < names.length; i++) {
      assertTrue(writer.addRow());
      writer.setLong(0, first + i);
      String name = names[i];
      if (name == null) {
        writer.setNull(1);
      } else {
        assertTrue(writer.setString(1, name));
      }
    }
    int ignored = writer.finish();
    return writer.batch();
  }

  private DumpTarget open(CopyRequest request) {
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

  private static void write(DumpTarget target, MemorySegment... batches) {
    try (DumpTarget.Writer writer = target.writer(0)) {
      for (MemorySegment each : batches) {
        writer.rows(each);
      }
    }
  }

  private List<DumpTarget.DumpedFile> dump(CopyRequest request, MemorySegment... batches) {
    try (DumpTarget target = open(request)) {
      write(target, batches);
      return target.finish();
    }
  }

  private EngineException refused(CopyRequest request) {
    return assertThrows(EngineException.class, () -> dump(request, batch(1, "x")));
  }

  private List<String> names() throws IOException {
    try (Stream<Path> found = Files.walk(places.out)) {
      return found
          .filter(Files::isRegularFile)
          .map(each -> places.out.relativize(each).toString())
          .sorted()
          .toList();
    }
  }

  @Test
  void shouldWriteOneFileAndSayItsDigest() throws IOException {
    List<DumpTarget.DumpedFile> dumped =
        dump(csv("out:x.csv", option("header")), batch(1, "one", null), batch(3, "three"));
    byte[] bytes = Files.readAllBytes(places.out.resolve("x.csv"));
    assertEquals("id,name\n1,one\n2,\n3,three\n", new String(bytes, StandardCharsets.UTF_8));
    assertEquals(
        List.of(
            new DumpTarget.DumpedFile(
                "out:x.csv",
                3,
                bytes.length,
                HexFormat.of().formatHex(NewFile.sha256().digest(bytes)))),
        dumped);
    assertEquals(List.of("x.csv"), names());
    assertEquals(ErrorCode.DUPLICATE_FILE, refused(csv("out:x.csv")).code());
    dump(csv("out:x.csv", option("overwrite")), batch(9, "nine"));
    assertEquals("9,nine\n", Files.readString(places.out.resolve("x.csv")));
  }

  @Test
  void shouldWriteFilesOfSeveralWritersIntoADirectory() throws IOException {
    try (DumpTarget target = open(csv("out:day/", option("file_size", "1kB")))) {
      assertTrue(target.isParallel());
      try (DumpTarget.Writer first = target.writer(0);
          DumpTarget.Writer second = target.writer(1)) {
        for (int i = 0; i < 5; i++) {
          first.rows(batch(1, "x".repeat(600)));
          second.rows(batch(1, "y".repeat(600)));
        }
      }
      assertEquals(
          List.of(), names().stream().filter(each -> !each.contains(".kakehashi-")).toList());
      List<DumpTarget.DumpedFile> dumped = target.finish();
      assertEquals(10, dumped.stream().mapToLong(DumpTarget.DumpedFile::rows).sum());
      assertTrue(dumped.size() >= 4, dumped.toString());
    }
    List<String> found = names();
    for (int i = 0; i < found.size(); i++) {
      assertEquals("day/data_" + i + ".csv", found.get(i));
      String text = Files.readString(places.out.resolve(found.get(i)));
      assertFalse(text.contains("x") && text.contains("y"));
    }
  }

  @Test
  void shouldMakeADirectoryForEachPartition() throws IOException {
    CopyRequest request = csv("out:p/", option("partition_by", "name"));
    List<DumpTarget.DumpedFile> dumped =
        dump(
            request,
            batch(1, "a/b=c%", "a/b=c%", "ü"),
            batch(4, "ü"),
            batch(5, "ü", "", null, null));
    assertEquals(
        List.of(
            "p/name=%C3%BC/data_0.csv",
            "p/name=/data_0.csv",
            "p/name=__HIVE_DEFAULT_PARTITION__/data_0.csv",
            "p/name=a%2Fb%3Dc%25/data_0.csv"),
        names());
    assertEquals(
        "3,ü\n4,ü\n5,ü\n", Files.readString(places.out.resolve("p/name=%C3%BC/data_0.csv")));
    assertEquals(
        "7,\n8,\n",
        Files.readString(places.out.resolve("p/name=__HIVE_DEFAULT_PARTITION__/data_0.csv")));
    assertEquals(8, dumped.stream().mapToLong(DumpTarget.DumpedFile::rows).sum());
    assertEquals(ErrorCode.DUPLICATE_FILE, refused(request).code());
    dump(csv("out:p/", option("partition_by", "name"), option("overwrite")), batch(1, "z"));
    assertEquals(List.of("p/name=z/data_0.csv"), names());
  }

  @Test
  void shouldRefuseAPartitionWhoseNameIsTooLong() throws IOException {
    EngineException e =
        assertThrows(
            EngineException.class,
            () -> dump(csv("out:p/", option("partition_by", "name")), batch(1, "x".repeat(300))));
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, e.code());
    assertEquals("name", e.columnName());
    assertEquals(List.of(), names());
    assertFalse(Files.exists(places.out.resolve("p")));
    assertEquals(
        ErrorCode.UNDEFINED_COLUMN, refused(csv("out:p/", option("partition_by", "nome"))).code());
  }

  @Test
  void shouldWriteAFileForNoRow() throws IOException {
    List<DumpTarget.DumpedFile> dumped = dump(csv("out:d/", option("header")));
    assertEquals(1, dumped.size());
    assertEquals("id,name\n", Files.readString(places.out.resolve("d/data_0.csv")));
    assertEquals(1, dump(csv("out:e.csv")).size());
    assertEquals("", Files.readString(places.out.resolve("e.csv")));
  }

  @Test
  void shouldLeaveNothingOfADumpThatBreaksOff() throws IOException {
    try (DumpTarget target = open(csv("out:d/", option("file_size", "1kB")))) {
      DumpTarget.Writer writer = target.writer(0);
      writer.rows(batch(1, "x".repeat(2_000)));
      writer.rows(batch(2, "y"));
      places.isCanceled = true;
      assertThrows(EngineException.class, () -> writer.rows(batch(3, "z")));
    }
    assertEquals(List.of(), names());
    assertFalse(Files.exists(places.out.resolve("d")));
  }

  @Test
  void shouldCompressAsTheNameSays() throws IOException {
    dump(csv("out:x.csv.gz"), batch(1, "one"));
    try (var in =
        new java.util.zip.GZIPInputStream(Files.newInputStream(places.out.resolve("x.csv.gz")))) {
      assertEquals("1,one\n", new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  @Test
  void shouldWriteToTheStreamOfTheStatement() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DumpTarget target =
        files.dump(csv("")).open(BulkDirectories.COLUMNS, "t", places.user, places, bytes::write)) {
      assertFalse(target.isParallel());
      write(target, batch(1, "one"));
      DumpTarget.DumpedFile dumped = target.finish().getFirst();
      assertEquals("", dumped.file());
      assertEquals(1, dumped.rows());
      assertEquals(6, dumped.bytes());
    }
    assertEquals("1,one\n", bytes.toString(StandardCharsets.UTF_8));
  }

  @Test
  void shouldCheckWhereItWrites() {
    List<String> messages = new ArrayList<>();
    for (String location : List.of("in:x.csv", "upload:x", "out:*.csv", "out:no/x.csv")) {
      messages.add(refused(csv(location)).getMessage());
    }
    assertEquals(
        List.of(
            "location \"in\" is not for writing",
            "\"upload:x\" cannot be written to",
            "\"out:*.csv\" is a pattern, not the name of a file",
            "could not open directory \"out:no\": No such file or directory"),
        messages);
    EngineException e = refused(csv("out:x.csv", option("file_size", "1MB")));
    assertEquals("file_size makes several files, and needs a directory for them", e.getMessage());
    places.user.denied.add("write out");
    assertEquals(ErrorCode.INSUFFICIENT_PRIVILEGE, refused(csv("out:x.csv")).code());
  }
}
