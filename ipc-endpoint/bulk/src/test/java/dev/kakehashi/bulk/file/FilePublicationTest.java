package dev.kakehashi.bulk.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.BulkDirectories;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilePublicationTest {
  @TempDir Path root;
  private BulkDirectories places;
  private FileGate gate;
  private BulkLocation out;

  @BeforeEach
  void open() throws IOException {
    places = new BulkDirectories(root);
    gate = gate();
    out = gate.location("out");
  }

  private FileGate gate() {
    return LocationSettings.gate(List.of("out:" + places.out + ":write"), List.of(places.data));
  }

  @AfterEach
  void shouldGiveAllMemoryBack() {
    assertEquals(0, places.memory.get());
  }

  private FilePublication begin(boolean overwrites) {
    return FilePublication.begin(gate, out, overwrites, places);
  }

  private static void write(NewFile file, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    file.write(bytes, 0, bytes.length);
  }

  private List<String> names() throws IOException {
    try (Stream<Path> found = Files.walk(places.out)) {
      return found
          .filter(each -> !each.equals(places.out))
          .map(each -> places.out.relativize(each).toString())
          .sorted()
          .toList();
    }
  }

  @Test
  void shouldGiveFinalNamesAtTheEndOnly() throws IOException {
    try (FilePublication publication = begin(false)) {
      NewFile file = publication.create(LocationPath.parse("out:a/x.csv"), true);
      NewFile other = publication.create(LocationPath.parse("out:y.csv"), false);
      write(file, "hello");
      file.write(ByteBuffer.allocateDirect(1 << 20));
      assertEquals((1 << 20) + 5, file.position());
      file.end();
      write(other, "world");
      other.end();
      assertFalse(Files.exists(places.out.resolve("a/x.csv")));
      publication.publish(List.of(file, other), List.of());
      byte[] bytes = Files.readAllBytes(places.out.resolve("a/x.csv"));
      assertEquals(file.position(), bytes.length);
      assertEquals(HexFormat.of().formatHex(NewFile.sha256().digest(bytes)), file.digest());
      assertEquals(
          "rw-r-----",
          PosixFilePermissions.toString(
              Files.getPosixFilePermissions(places.out.resolve("y.csv"))));
    }
    assertEquals(List.of("a", "a/x.csv", "y.csv"), names());
  }

  @Test
  void shouldLeaveNothingBehindThatWasNotPublished() throws IOException {
    try (FilePublication publication = begin(false)) {
      write(publication.create(LocationPath.parse("out:a/b/x.csv"), true), "hello");
      NewFile ended = publication.create(LocationPath.parse("out:y.csv"), false);
      ended.end();
    }
    assertEquals(List.of(), names());
  }

  @Test
  void shouldReplaceAFileOnlyIfItIsSaid() throws IOException {
    Files.writeString(places.out.resolve("x.csv"), "old");
    LocationPath path = LocationPath.parse("out:x.csv");
    try (FilePublication publication = begin(false)) {
      EngineException e =
          assertThrows(EngineException.class, () -> publication.create(path, false));
      assertEquals(ErrorCode.DUPLICATE_FILE, e.code());
    }
    try (FilePublication publication = begin(true)) {
      NewFile file = publication.create(path, false);
      write(file, "new");
      file.end();
      publication.publish(List.of(file), List.of());
    }
    assertEquals("new", Files.readString(places.out.resolve("x.csv")));
  }

  @Test
  void shouldPublishNoneIfOneNameIsTakenMeanwhile() throws IOException {
    try (FilePublication publication = begin(false)) {
      NewFile first = publication.create(LocationPath.parse("out:a.csv"), false);
      NewFile second = publication.create(LocationPath.parse("out:b.csv"), false);
      first.end();
      second.end();
      Files.writeString(places.out.resolve("b.csv"), "somebody's");
      EngineException e =
          assertThrows(
              EngineException.class, () -> publication.publish(List.of(first, second), List.of()));
      assertEquals(ErrorCode.DUPLICATE_FILE, e.code());
    }
    assertEquals(List.of("b.csv"), names());
    assertEquals("somebody's", Files.readString(places.out.resolve("b.csv")));
  }

  @Test
  void shouldRefuseADirectoryThatIsNotThereOrALink() throws IOException {
    Files.createSymbolicLink(places.out.resolve("link"), places.in);
    try (FilePublication publication = begin(false)) {
      EngineException e =
          assertThrows(
              EngineException.class,
              () -> publication.create(LocationPath.parse("out:no/x.csv"), false));
      assertEquals(ErrorCode.UNDEFINED_FILE, e.code());
      assertThrows(
          EngineException.class,
          () -> publication.create(LocationPath.parse("out:link/x.csv"), true));
    }
    try (Stream<Path> found = Files.list(places.in)) {
      assertEquals(0, found.count());
    }
  }

  /// Files of a process that was killed between both names are swept by the next start; those of a process that lives are not.
  @Test
  void shouldSweepWhatAKilledProcessHasLeft() throws Exception {
    Process writer = start(KilledWriter.class);
    try {
      assertEquals('k', writer.getInputStream().read());
      assertEquals(4, names().size(), names().toString());
      assertEquals(0, FilePublication.sweep(gate, out));
      assertEquals(4, names().size());
    } finally {
      writer.destroyForcibly();
      assertTrue(writer.waitFor(20, TimeUnit.SECONDS));
    }
    assertEquals(2, FilePublication.sweep(gate, out));
    assertEquals(List.of("a"), names());
  }

  private Process start(Class<?> program) throws IOException {
    return new ProcessBuilder(
            ProcessHandle.current().info().command().orElseThrow(),
            "-cp",
            System.getProperty("java.class.path"),
            "--enable-native-access=ALL-UNNAMED",
            program.getName(),
            places.out.toString(),
            places.data.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  @Test
  void shouldNameTheOtherFilesOfAProcessThatWasKilledBetweenTwoNames() throws Exception {
    Files.createDirectories(places.out.resolve("d"));
    Files.writeString(places.out.resolve("d/data_7.csv"), "old");
    Process publisher = start(KilledPublisher.class);
    try {
      assertEquals('k', publisher.getInputStream().read());
      assertTrue(Files.exists(places.out.resolve("d/data_0.csv")));
      assertFalse(Files.exists(places.out.resolve("d/data_1.csv")));
      assertEquals(0, FilePublication.sweep(gate, out));
      assertFalse(Files.exists(places.out.resolve("d/data_1.csv")));
    } finally {
      publisher.destroyForcibly();
      assertTrue(publisher.waitFor(20, TimeUnit.SECONDS));
    }
    assertEquals(1, FilePublication.sweep(gate, out), "a file that was not to be published");
    assertEquals(List.of("d", "d/data_0.csv", "d/data_1.csv", "d/data_2.csv"), names());
    for (int i = 0; i < 3; i++) {
      assertEquals("rows " + i, Files.readString(places.out.resolve("d/data_" + i + ".csv")));
    }
  }

  @Test
  void shouldGoOnWithNothingOfARecordThatIsNotWhole() throws IOException {
    String mark = TemporaryName.newMark();
    Files.writeString(places.out.resolve(mark + "-0"), "rows");
    Files.writeString(
        places.out.resolve(mark), "kakehashi publication 1 new\nN 0 x.csv\nE 12345678\n");
    assertEquals(1, FilePublication.sweep(gate, out));
    assertEquals(List.of(), names());
  }

  /// Names three of four files, and is killed when one of them has its name.
  static final class KilledPublisher {
    private KilledPublisher() {}

    /// Its elements are read when the record is made, and then when the files are named.
    private static final class Slow extends AbstractList<NewFile> {
      private final List<NewFile> files;
      private int passes;

      Slow(List<NewFile> files) {
        this.files = files;
      }

      @Override
      public int size() {
        return files.size();
      }

      @Override
      public NewFile get(int index) {
        if (index == 1 && ++passes == 2) {
          System.out.print('k');
          System.out.flush();
          try {
            // Until it is killed.
            int ignored = System.in.read();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        }
        return files.get(index);
      }
    }

    public static void main(String[] args) throws IOException {
      FileGate gate =
          LocationSettings.gate(List.of("out:" + args[0] + ":write"), List.of(Path.of(args[1])));
      BulkDirectories places = new BulkDirectories(Path.of(args[0], "..").normalize());
      FilePublication publication = FilePublication.begin(gate, gate.location("out"), true, places);
      List<NewFile> files = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        NewFile file = publication.create(LocationPath.parse("out:d/data_" + i + ".csv"), true);
        write(file, "rows " + i);
        file.end();
        files.add(file);
      }
      publication.publish(
          new Slow(files.subList(0, 3)), List.of(LocationPath.parse("out:d/data_7.csv")));
    }
  }

  /// Writes two files and waits for its end.
  static final class KilledWriter {
    private KilledWriter() {}

    public static void main(String[] args) throws IOException {
      FileGate gate =
          LocationSettings.gate(List.of("out:" + args[0] + ":write"), List.of(Path.of(args[1])));
      BulkDirectories places = new BulkDirectories(Path.of(args[0], "..").normalize());
      FilePublication publication =
          FilePublication.begin(gate, gate.location("out"), false, places);
      write(publication.create(LocationPath.parse("out:a/x.csv"), true), "hello");
      publication.create(LocationPath.parse("out:y.csv"), false).end();
      System.out.print('k');
      System.out.flush();
      // Until it is killed.
      int ignored = System.in.read();
    }
  }
}
