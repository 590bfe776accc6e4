package dev.kakehashi.bulk.load;

import static dev.kakehashi.bulk.BulkDirectories.csv;
import static dev.kakehashi.bulk.BulkDirectories.option;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.BulkDirectories;
import dev.kakehashi.bulk.BulkFiles;
import dev.kakehashi.engine.api.bulk.CopyRequest;
import dev.kakehashi.engine.api.bulk.LoadPart;
import dev.kakehashi.engine.api.bulk.LoadSource;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Which columns a file of text has, and values that stand for defaults.
class CsvColumnsTest {
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

  private void write(String content) throws IOException {
    Files.writeString(places.both.resolve("a.csv"), content);
  }

  @Test
  void shouldFindColumnsByTheNamesOfTheHeader() throws IOException {
    write("name,id\none,1\n");
    CopyRequest byName = csv("both:a.csv", option("header"), option("match_by", "name"));
    try (LoadSource source = places.load(files, byName)) {
      assertArrayEquals(new int[] {1, 0}, source.columns());
      try (LoadPart part = requireNonNull(source.next())) {
        RowBatchReader rows = new RowBatchReader().wrap(requireNonNull(part.next()));
        assertEquals("one", rows.getString(0, 0));
        assertEquals(1, rows.getInt(0, 1));
      }
    }
    write("name\none\n");
    try (LoadSource source = places.load(files, byName)) {
      assertArrayEquals(new int[] {1}, source.columns());
    }
    write("1,one\n");
    CopyRequest byPosition = csv("both:a.csv", option("match_by", "position"));
    try (LoadSource source = places.load(files, byPosition)) {
      assertArrayEquals(new int[] {0, 1}, source.columns());
    }
  }

  @Test
  void shouldRefuseNamesThatNobodyKnows() throws IOException {
    write("nam,id\none,1\n");
    CopyRequest byName = csv("both:a.csv", option("header"), option("match_by", "name"));
    assertEquals(
        ErrorCode.UNDEFINED_COLUMN,
        assertThrows(EngineException.class, () -> places.load(files, byName)).code());
    EngineException refused =
        assertThrows(
            EngineException.class,
            () ->
                files.load(
                    csv("both:a.csv", option("header", "false"), option("match_by", "name"))));
    assertEquals("match_by name needs header", refused.getMessage());
    assertEquals(ErrorCode.INVALID_PARAMETER_VALUE, refused.code());
  }

  @Test
  void shouldHoldNamesToTheirOrderIfTheHeaderHasToMatch() throws IOException {
    write("nam,id\none,1\n");
    CopyRequest both = csv("both:a.csv", option("header", "match"), option("match_by", "name"));
    assertEquals(
        ErrorCode.BAD_COPY_FILE_FORMAT,
        assertThrows(EngineException.class, () -> places.load(files, both)).code());
  }

  @Test
  void shouldTellValuesThatStandForDefaults() throws IOException {
    write("1,#D\nx,#D\n#D,\"#D\"\n3,#d\n");
    CopyRequest request =
        csv(
            "both:a.csv",
            option("default", "#D"),
            option("on_error", "ignore"),
            option("reject_file", "out:r.csv"));
    try (LoadSource source = places.load(files, request)) {
      try (LoadPart part = requireNonNull(source.next())) {
        RowBatchReader rows = new RowBatchReader().wrap(requireNonNull(part.next()));
        assertEquals(3, rows.rowCount());
        assertTrue(part.hasDefaults());
        assertFalse(part.isDefault(0, 0));
        assertTrue(part.isDefault(0, 1));
        assertTrue(rows.isNull(0, 1));
        // The row with x is rejected, and what stood there stands for nothing.
        assertTrue(part.isDefault(1, 0));
        assertFalse(part.isDefault(1, 1));
        assertEquals("#D", rows.getString(1, 1));
        assertFalse(part.isDefault(2, 1));
        assertEquals("#d", rows.getString(2, 1));
      }
    }
  }
}
