package dev.kakehashi.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class ErrorCodeTest {
  @Test
  void shouldAgreeWithErrorTable() throws IOException {
    List<String> table =
        Files.readAllLines(Path.of("schema/errors.txt")).stream()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .map(line -> line.trim().replaceAll("\\s+", " "))
            .toList();
    List<String> codes = new ArrayList<>();
    for (ErrorCode code : ErrorCode.values()) {
      codes.add(
          "%s %d %s %s %s"
              .formatted(
                  code.name(),
                  code.number(),
                  code.sqlstate(),
                  code.category().name().toLowerCase(Locale.ROOT),
                  code.retryable() ? "yes" : "no"));
    }
    assertEquals(table, codes);
  }

  @Test
  void shouldPackSqlstateAsPostgresqlDoes() {
    assertEquals(0, Sqlstate.pack("00000"));
    // MAKE_SQLSTATE('4','2','P','0','1'), as errcodes.h has it
    int expected = 4 | 2 << 6 | ('P' - '0') << 12 | 0 << 18 | 1 << 24;
    assertEquals(expected, Sqlstate.pack("42P01"));
    for (ErrorCode code : ErrorCode.values()) {
      assertEquals(code.sqlstate(), Sqlstate.unpack(Sqlstate.pack(code.sqlstate())));
    }
  }
}
