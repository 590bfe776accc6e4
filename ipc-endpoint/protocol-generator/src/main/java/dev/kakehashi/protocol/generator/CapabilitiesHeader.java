package dev.kakehashi.protocol.generator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Emits `capabilities.h` from `capabilities.txt`: an enum of bits for each kind, and their titles.
final class CapabilitiesHeader {
  private static final Pattern LINE =
      Pattern.compile("(capability|computation|type) +([A-Z][A-Z0-9_]*) +([0-9]+) (.+)");
  private static final int BITS = 64;

  private CapabilitiesHeader() {}

  private record Bit(String kind, String name, int number, String title) {}

  /// @throws IllegalArgumentException naming the line that is none, or out of its order
  static String emit(Path table, String source) throws IOException {
    CText c = CText.file(source, "What an engine can do: numbers of bits.");
    c.line("#ifndef KAKEHASHI_CAPABILITIES_H").line("#define KAKEHASHI_CAPABILITIES_H");
    List<Bit> bits = read(table);
    emit(c, bits, "capability", "KH_CAN_");
    emit(c, bits, "computation", "KH_COMPUTES_");
    emit(c, bits, "type", "KH_KEEPS_");
    return c.line("").line("#endif").toString();
  }

  private static void emit(CText c, List<Bit> all, String kind, String prefix) {
    List<Bit> bits = all.stream().filter(bit -> bit.kind().equals(kind)).toList();
    String type = kind.equals("type") ? "stored_type" : kind;
    c.line("").line("typedef enum kh_%s", type).open();
    for (Bit bit : bits) {
      c.line("%s%s = %d,", prefix, bit.name(), bit.number());
    }
    c.close(" kh_%s;".formatted(type)).line("");
    String macro = type.toUpperCase(Locale.ROOT);
    c.line("#define KH_%s_COUNT %d", macro, bits.size()).line("");
    c.line("/* X(bit, name, title) */").line("#define KH_%s_LIST(X) \\", macro);
    for (int i = 0; i < bits.size(); i++) {
      Bit bit = bits.get(i);
      c.line(
          "\tX(%s%s, \"%s\", \"%s\")%s",
          prefix, bit.name(), bit.name(), bit.title(), i + 1 < bits.size() ? " \\" : "");
    }
  }

  private static List<Bit> read(Path table) throws IOException {
    Map<String, Integer> next = new HashMap<>();
    return Files.readAllLines(table).stream()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .map(line -> bit(line, next))
        .toList();
  }

  private static Bit bit(String line, Map<String, Integer> next) {
    Matcher parts = LINE.matcher(line);
    if (!parts.matches() || line.contains("\"") || line.contains("\\")) {
      throw new IllegalArgumentException("not a capability: " + line);
    }
    int number = Integer.parseInt(parts.group(3));
    if (number >= BITS || number != next.merge(parts.group(1), 1, Integer::sum) - 1) {
      throw new IllegalArgumentException("not the next bit of its kind: " + line);
    }
    return new Bit(parts.group(1), parts.group(2), number, parts.group(4).strip());
  }
}
