package dev.kakehashi.protocol.generator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/// Emits `error_codes.h` from `errors.txt`.
final class ErrorCodesHeader {
  private static final Pattern NAME = Pattern.compile("[A-Z][A-Z0-9_]*");
  private static final Pattern SQLSTATE = Pattern.compile("[0-9A-Z]{5}");
  private static final Set<String> CLASSES =
      Set.of("user", "resource", "connection", "protocol", "internal");

  private ErrorCodesHeader() {}

  private record Code(String name, int number, String sqlstate, String faultClass, boolean retry) {}

  /// @throws IllegalArgumentException naming the line that is not `name number sqlstate class retry`
  static String emit(Path table, String source) throws IOException {
    CText c = CText.file(source, "Errors of the project.");
    c.line("#ifndef KAKEHASHI_ERROR_CODES_H").line("#define KAKEHASHI_ERROR_CODES_H").line("");
    c.line("#include <stdbool.h>").line("");
    c.line("typedef enum kh_error_class").open();
    c.line("KH_CLASS_USER,\t\t\t/* the statement or its data */");
    c.line("KH_CLASS_RESOURCE,\t\t/* a limit */");
    c.line("KH_CLASS_CONNECTION,").line("KH_CLASS_PROTOCOL,").line("KH_CLASS_INTERNAL");
    c.close(" kh_error_class;").line("");
    List<Code> codes = read(table);
    c.line(
        "/* X(name, number, sqlstate, class, whether the same request may succeed when repeated) */");
    c.line("#define KH_ERROR_CODES(X) \\");
    for (int i = 0; i < codes.size(); i++) {
      Code code = codes.get(i);
      c.line(
          "\tX(%s, %d, \"%s\", KH_CLASS_%s, %s)%s",
          code.name(),
          code.number(),
          code.sqlstate(),
          code.faultClass().toUpperCase(Locale.ROOT),
          code.retry(),
          i + 1 < codes.size() ? " \\" : "");
    }
    c.line("").line("typedef enum kh_error_code").open();
    for (Code code : codes) {
      c.line("KH_E_%s = %d,", code.name(), code.number());
    }
    return c.close(" kh_error_code;").line("").line("#endif").toString();
  }

  private static List<Code> read(Path table) throws IOException {
    Set<String> seen = new HashSet<>();
    return Files.readAllLines(table).stream()
        .map(line -> line.replaceFirst("#.*", "").strip())
        .filter(line -> !line.isEmpty())
        .map(line -> code(line, seen))
        .toList();
  }

  private static Code code(String line, Set<String> seen) {
    List<String> columns = List.of(line.split("\\s+"));
    if (columns.size() != 5
        || !NAME.matcher(columns.get(0)).matches()
        || !columns.get(1).matches("[1-9][0-9]{3}")
        || !SQLSTATE.matcher(columns.get(2)).matches()
        || !CLASSES.contains(columns.get(3))
        || !Set.of("yes", "no").contains(columns.get(4))) {
      throw new IllegalArgumentException("not an error code: " + line);
    }
    if (!seen.add(columns.get(0)) || !seen.add(columns.get(1))) {
      throw new IllegalArgumentException("name or number occurs twice: " + line);
    }
    return new Code(
        columns.get(0),
        Integer.parseInt(columns.get(1)),
        columns.get(2),
        columns.get(3),
        columns.get(4).equals("yes"));
  }
}
