package dev.kakehashi.bulk.file;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Pattern;

/// Names of files that are written: `.kakehashi-KEY-N`, beside them the mark of their writer, `.kakehashi-KEY`. Nobody gives such a name to
/// anything else, and no `COPY` may name one.
final class TemporaryName {
  private static final String PREFIX = ".kakehashi-";
  private static final int KEY_DIGITS = 16;
  private static final Pattern MARK = Pattern.compile("\\.kakehashi-[0-9a-f]{16}");
  private static final Pattern ANY = Pattern.compile("\\.kakehashi-[0-9a-f]{16}(-[0-9]{1,18})?");
  private static final SecureRandom RANDOM = new SecureRandom();

  private TemporaryName() {}

  static boolean isOne(String name) {
    return name.startsWith(PREFIX) && ANY.matcher(name).matches();
  }

  static boolean isMark(String name) {
    return name.startsWith(PREFIX) && MARK.matcher(name).matches();
  }

  /// A mark of a new writer.
  static String newMark() {
    byte[] key = new byte[KEY_DIGITS / 2];
    RANDOM.nextBytes(key);
    return PREFIX + HexFormat.of().formatHex(key);
  }

  /// Name of the writer's file with a number.
  static String of(String mark, long number) {
    return mark + "-" + number;
  }

  /// Whether it is a file of a writer.
  static boolean belongsTo(String name, String mark) {
    return name.startsWith(mark + "-") && isOne(name);
  }
}
