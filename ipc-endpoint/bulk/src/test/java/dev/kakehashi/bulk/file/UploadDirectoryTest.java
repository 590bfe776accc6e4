package dev.kakehashi.bulk.file;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.BulkDirectories;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UploadDirectoryTest {
  @TempDir Path root;
  private BulkDirectories places;
  private UploadDirectory uploads;

  @BeforeEach
  void open() throws IOException {
    places = new BulkDirectories(root);
    uploads = places.uploads(1_000, 100);
  }

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String content(OpenedFile file) {
    byte[] bytes = new byte[(int) file.sizeBytes()];
    file.read(0, MemorySegment.ofArray(bytes));
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static ErrorCode refused(org.junit.jupiter.api.function.Executable call) {
    return assertThrows(EngineException.class, call).code();
  }

  private long fileCount() throws IOException {
    try (Stream<Path> found = Files.list(places.data.resolve("uploads"))) {
      return found.count();
    }
  }

  @Test
  void shouldTakeAFileInPiecesAndKeepItOverARestart() throws IOException {
    String id = uploads.begin("anna");
    assertTrue(id.matches("[0-9a-f]{32}"));
    assertEquals(5, uploads.append("anna", id, 0, bytes("hello")));
    EngineException e =
        assertThrows(EngineException.class, () -> uploads.append("anna", id, 0, bytes("hello")));
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, e.code());
    assertEquals("Its length is 5 bytes.", e.detail());
    uploads = places.uploads(1_000, 100);
    assertEquals(5, uploads.length("anna", id));
    assertEquals(11, uploads.append("anna", id, 5, bytes(" world")));
    try (OpenedFile file = uploads.open("anna", id, "upload:" + id)) {
      uploads.remove("anna", id);
      assertEquals("hello world", content(file));
    }
    assertEquals(0, fileCount());
  }

  @Test
  void shouldShowAnUploadToItsOwnerAlone() {
    String id = uploads.begin("anna");
    assertEquals(ErrorCode.UNDEFINED_FILE, refused(() -> uploads.length("bert", id)));
    assertEquals(ErrorCode.UNDEFINED_FILE, refused(() -> uploads.remove("bert", id)));
    assertEquals(
        ErrorCode.UNDEFINED_FILE, refused(() -> uploads.append("bert", id, 0, bytes("x"))));
    assertEquals(ErrorCode.UNDEFINED_FILE, refused(() -> uploads.open("bert", id, "upload:" + id)));
    assertEquals(ErrorCode.UNDEFINED_FILE, refused(() -> uploads.length("anna", "../../store")));
  }

  @Test
  void shouldKeepWithinTheSpaceOfARoleAndOfAll() throws IOException {
    String id = uploads.begin("anna");
    uploads.append("anna", id, 0, bytes("x".repeat(90)));
    assertEquals(
        ErrorCode.TEMP_SPACE_EXCEEDED,
        refused(() -> uploads.append("anna", id, 90, bytes("x".repeat(11)))));
    assertEquals(100, uploads.append("anna", id, 90, bytes("x".repeat(10))));
    for (int i = 0; i < 9; i++) {
      String role = "role" + i;
      uploads.append(role, uploads.begin(role), 0, bytes("x".repeat(100)));
    }
    String other = uploads.begin("bert");
    assertEquals(
        ErrorCode.TEMP_SPACE_EXCEEDED, refused(() -> uploads.append("bert", other, 0, bytes("x"))));
    UploadDirectory again = places.uploads(1_000, 100);
    assertEquals(
        ErrorCode.TEMP_SPACE_EXCEEDED, refused(() -> again.append("bert", other, 0, bytes("x"))));
    again.remove("anna", id);
    assertEquals(1, again.append("bert", other, 0, bytes("x")));
  }

  @Test
  void shouldRemoveWhatWasNotUsedForLong() throws IOException {
    String old = uploads.begin("anna");
    String used = uploads.begin("anna");
    places.clock.addAndGet(Duration.ofMinutes(50).toMillis());
    assertEquals(0, uploads.length("anna", used));
    places.clock.addAndGet(Duration.ofMinutes(20).toMillis());
    uploads.sweepIfDue();
    assertEquals(ErrorCode.UNDEFINED_FILE, refused(() -> uploads.length("anna", old)));
    assertEquals(0, uploads.length("anna", used));
    places.clock.addAndGet(Duration.ofHours(2).toMillis());
    uploads = places.uploads(1_000, 100);
    assertEquals(0, fileCount());
  }

  @Test
  void shouldKeepNothingOfAStreamThatBreaks() throws IOException {
    InputStream broken =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw new IOException("connection reset");
          }

          @Override
          public int read(byte[] into, int from, int count) throws IOException {
            throw new IOException("connection reset");
          }
        };
    InputStream stream =
        new SequenceInputStream(
            new ByteArrayInputStream("x".getBytes(StandardCharsets.UTF_8)), broken);
    assertThrows(IOException.class, () -> uploads.take("anna", stream));
    InputStream tooLong = new ByteArrayInputStream(new byte[200]);
    assertEquals(ErrorCode.TEMP_SPACE_EXCEEDED, refused(() -> uploads.take("anna", tooLong)));
    assertEquals(0, fileCount());
  }
}
