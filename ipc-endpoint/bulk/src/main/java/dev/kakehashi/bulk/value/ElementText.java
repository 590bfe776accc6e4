package dev.kakehashi.bulk.value;

import dev.kakehashi.formats.Output;
import java.io.IOException;

/// Elements of arrays as PostgreSQL writes them.
final class ElementText {
  private static final byte[] NULL = {'N', 'U', 'L', 'L'};

  private ElementText() {}

  static void putNull(Output out) throws IOException {
    out.put(NULL);
  }

  /// Writes an element, in quotes if it would be read as something else without them.
  static void put(Output out, byte[] value, int length) throws IOException {
    boolean quoted = length == 0 || isNull(value, length);
    for (int i = 0; i < length && !quoted; i++) {
      quoted =
          switch (value[i]) {
            case '"', '\\', '{', '}', ',', ' ', '\t', '\n', '\r', '\f', 0x0B -> true;
            default -> false;
          };
    }
    if (!quoted) {
      out.put(value, 0, length);
      return;
    }
    out.put('"');
    for (int i = 0; i < length; i++) {
      if (value[i] == '"' || value[i] == '\\') {
        out.put('\\');
      }
      out.put(value[i]);
    }
    out.put('"');
  }

  private static boolean isNull(byte[] value, int length) {
    return length == NULL.length
        && (value[0] | 0x20) == 'n'
        && (value[1] | 0x20) == 'u'
        && (value[2] | 0x20) == 'l'
        && (value[3] | 0x20) == 'l';
  }
}
