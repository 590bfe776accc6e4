package dev.kakehashi.tools.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.kakehashi.tools.SqlCommand;
import java.lang.reflect.Field;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/// Arguments that are read without the library are as the library would have read them.
class PlainArgumentsTest {
  private static Map<String, String> values(Object command) throws ReflectiveOperationException {
    Map<String, String> values = new TreeMap<>();
    for (Field field : command.getClass().getDeclaredFields()) {
      field.setAccessible(true);
      Object value = field.get(command);
      boolean isMixin = value != null && value.getClass().getName().startsWith("dev.kakehashi");
      if (field.getName().equals("command")) {
        continue; // of the library
      }
      values.put(
          field.getName(),
          isMixin && !value.getClass().isEnum() ? values(value).toString() : String.valueOf(value));
    }
    return values;
  }

  private static void assertSame(String... words) throws ReflectiveOperationException {
    SqlCommand plain = SqlCommand.plain(List.of(words));
    assertNotNull(plain, List.of(words).toString());
    SqlCommand parsed = new SqlCommand();
    new CommandLine(parsed).parseArgs(words);
    assertEquals(values(parsed), values(plain), List.of(words).toString());
  }

  @Test
  void shouldReadWhatTheLibraryReads() throws ReflectiveOperationException {
    assertSame("-R", "/run/x", "-c", "SELECT 1");
    assertSame("--runtime-directory=/run/x", "-XAt", "--command", "SELECT 1", "--command=SELECT 2");
    assertSame("-R", "/run/x", "-U", "anna", "-Atc", "SELECT 1", "-F", ";", "-o", "/tmp/out");
    assertSame("-R", "/run/x", "-f", "-", "-v", "ON_ERROR_STOP=1", "--set", "a=b=c", "-1");
    assertSame("-R", "/run/x", "-q", "-a", "-e", "-x", "--csv", "-P", "null=x", "--variable=y");
    assertSame("-R", "/run/x", "--json", "--no-align", "--tuples-only", "--expanded", "--quiet");
    assertSame("-R", "/run/x", "--echo-all", "--echo-queries", "--no-rc", "--single-transaction");
    assertSame("-R", "/run/x", "--file", "a b", "--pset", "border=2", "--output=o", "--user", "u");
    assertSame("-R", "/run/x", "--field-separator", "|");
  }

  @Test
  void shouldLeaveTheRestToTheLibrary() {
    for (List<String> words :
        List.of(
            List.of("-R", "/run/x", "--help"),
            List.of("-R", "/run/x", "--url", "unix:/x"),
            List.of("-R", "/run/x", "--isolation", "SERIALIZABLE"),
            List.of("-R", "/run/x", "-c"),
            List.of("-R", "/run/x", "-c", "-t"),
            List.of("-R", "/run/x", "-cSELECT 1"),
            List.of("-R", "/run/x", "-A", "-A"),
            List.of("-R", "/run/x", "-R", "/run/y"),
            List.of("-R", "/run/x", "--csv=yes"),
            List.of("-R", "/run/x", "word"),
            List.of("-R", ""))) {
      assertNull(SqlCommand.plain(words), words.toString());
    }
  }
}
