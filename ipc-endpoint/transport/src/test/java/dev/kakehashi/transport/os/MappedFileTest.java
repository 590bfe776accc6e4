package dev.kakehashi.transport.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.transport.TransportException;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Files in shared memory, their permissions and what is given back of them.
@SuppressWarnings("NullAway.Init") // set before each test
class MappedFileTest {
  private static final int PAGE_BYTES = 4096;

  private Path directory;
  private Path path;

  @BeforeEach
  void choose() throws IOException {
    directory = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    path = directory.resolve("file");
  }

  @AfterEach
  void remove() throws IOException {
    Files.deleteIfExists(path);
    Files.delete(directory);
  }

  @Test
  void shouldNotTakeAFileThatIsThere() throws IOException {
    Files.writeString(path, "somebody's");
    assertThrows(TransportException.class, () -> MappedFile.create(path, PAGE_BYTES, 0600));
    assertEquals("somebody's", Files.readString(path));
  }

  @Test
  void shouldGiveExactlyThePermissionsThatWereAskedFor() throws IOException {
    try (MappedFile file = MappedFile.create(path, PAGE_BYTES, 0666)) {
      assertEquals(PAGE_BYTES, file.memory().byteSize());
      assertEquals("rw-rw-rw-", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
    }
  }

  @Test
  void shouldShowEachMappingWhatAnotherWrites() {
    try (MappedFile file = MappedFile.create(path, 2 * PAGE_BYTES, 0600);
        MappedFile part = MappedFile.open(path, PAGE_BYTES, PAGE_BYTES)) {
      file.memory().set(ValueLayout.JAVA_INT, PAGE_BYTES + 8, 42);
      assertEquals(42, part.memory().get(ValueLayout.JAVA_INT, 8));
    }
  }

  @Test
  void shouldReadZerosWhereMemoryWasGivenBackAndNowhereElse() throws IOException {
    try (MappedFile file = MappedFile.create(path, 2 * PAGE_BYTES, 0600)) {
      file.memory().fill((byte) 1);
      file.punch(0, PAGE_BYTES);
      assertEquals(0, file.memory().get(ValueLayout.JAVA_BYTE, PAGE_BYTES - 1));
      assertEquals(1, file.memory().get(ValueLayout.JAVA_BYTE, PAGE_BYTES));
      assertEquals(2 * PAGE_BYTES, Files.size(path));
    }
  }

  @Test
  void shouldReserveSpaceOfAnotherProcessesFileWithoutMakingItLonger() throws IOException {
    Files.createFile(path);
    try (SparseFile file = SparseFile.open(path)) {
      assertTrue(file.reserve(0, PAGE_BYTES));
      assertEquals(0, Files.size(path));
      Files.writeString(path, "x");
      file.punch(0, PAGE_BYTES);
      assertEquals(1, Files.size(path));
      assertEquals(0, Files.readAllBytes(path)[0]);
    }
  }
}
