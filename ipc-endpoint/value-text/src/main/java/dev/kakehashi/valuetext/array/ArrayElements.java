package dev.kakehashi.valuetext.array;

import dev.kakehashi.valuetext.Spaces;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/// Elements as an array's text has them: in quotes if they would be read as something else without them.
public final class ArrayElements {
  private static final byte[] NULL = {'N', 'U', 'L', 'L'};

  private ArrayElements() {}

  public static void putNull(ByteArrayOutputStream out) {
    out.writeBytes(NULL);
  }

  /// Writes an element that is not null.
  ///
  /// @param value in UTF-8
  public static void put(ByteArrayOutputStream out, byte[] value) {
    boolean quoted = value.length == 0 || isNull(value, 0, value.length);
    for (int i = 0; i < value.length && !quoted; i++) {
      quoted = needsQuotes(value[i]);
    }
    if (!quoted) {
      out.writeBytes(value);
      return;
    }
    out.write('"');
    for (byte each : value) {
      if (needsBackslash(each)) {
        out.write('\\');
      }
      out.write(each);
    }
    out.write('"');
  }

  /// Writes an element; null is SQL's null.
  public static void append(StringBuilder out, @Nullable String element) {
    if (element == null) {
      out.append("NULL");
      return;
    }
    boolean quoted = element.isEmpty() || element.equalsIgnoreCase("null");
    for (int i = 0; i < element.length() && !quoted; i++) {
      quoted = needsQuotes(element.charAt(i));
    }
    if (!quoted) {
      out.append(element);
      return;
    }
    out.append('"');
    for (int i = 0; i < element.length(); i++) {
      char c = element.charAt(i);
      if (needsBackslash(c)) {
        out.append('\\');
      }
      out.append(c);
    }
    out.append('"');
  }

  /// Whether bytes are the word that means null without quotes, in letters of any case.
  static boolean isNull(byte[] bytes, int from, int length) {
    return length == NULL.length
        && (bytes[from] & ~0x20) == 'N'
        && (bytes[from + 1] & ~0x20) == 'U'
        && (bytes[from + 2] & ~0x20) == 'L'
        && (bytes[from + 3] & ~0x20) == 'L';
  }

  private static boolean needsQuotes(int each) {
    return each == ','
        || each == '{'
        || each == '}'
        || needsBackslash(each)
        || Spaces.isSpace(each);
  }

  private static boolean needsBackslash(int each) {
    return each == '"' || each == '\\';
  }
}
