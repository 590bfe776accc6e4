package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.Spaces;
import dev.kakehashi.valuetext.ValueErrors;
import java.util.Arrays;

/// bytea: hexadecimal digits after `\x`, with blanks between bytes, or PostgreSQL's escape form.
final class TextToBytea extends TextColumn {
  private byte[] scratch = new byte[64];

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    if (scratch.length < to - from) {
      scratch = new byte[Math.max(to - from, 2 * Math.min(scratch.length, 1 << 29))];
    }
    boolean isHex = to - from >= 2 && bytes[from] == '\\' && bytes[from + 1] == 'x';
    int length = isHex ? hex(bytes, from + 2, to) : escaped(bytes, from, to);
    int at = batch.varlena(column, length);
    System.arraycopy(scratch, 0, batch.memory, at, length);
    if (scratch.length > 1 << 20) {
      scratch = Arrays.copyOf(scratch, 64);
    }
  }

  private int hex(byte[] bytes, int from, int to) {
    int length = 0;
    int at = from;
    while (at < to) {
      byte each = bytes[at++];
      if (Spaces.isSpace(each)) {
        continue;
      }
      int high = Hex.digit(each);
      if (high < 0) {
        throw invalidHex(
            "invalid hexadecimal digit: \"" + FileUtf8.shown(bytes, at - 1, at) + "\"");
      }
      if (at == to) {
        throw invalidHex("invalid hexadecimal data: odd number of digits");
      }
      int low = Hex.digit(bytes[at]);
      if (low < 0) {
        throw invalidHex(
            "invalid hexadecimal digit: \"" + FileUtf8.shown(bytes, at, at + 1) + "\"");
      }
      at++;
      scratch[length++] = (byte) (high << 4 | low);
    }
    return length;
  }

  private static EngineException invalidHex(String message) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message);
  }

  private int escaped(byte[] bytes, int from, int to) {
    int length = 0;
    int at = from;
    while (at < to) {
      byte each = bytes[at++];
      if (each == '\\') {
        if (at < to && bytes[at] == '\\') {
          at++;
        } else if (isOctal(bytes, at, to, '3')
            && isOctal(bytes, at + 1, to, '7')
            && isOctal(bytes, at + 2, to, '7')) {
          each =
              (byte) ((bytes[at] - '0') << 6 | (bytes[at + 1] - '0') << 3 | (bytes[at + 2] - '0'));
          at += 3;
        } else {
          throw ValueErrors.invalidSyntax("bytea", FileUtf8.shown(bytes, from, to));
        }
      }
      scratch[length++] = each;
    }
    return length;
  }

  private static boolean isOctal(byte[] bytes, int at, int to, char most) {
    return at < to && bytes[at] >= '0' && bytes[at] <= most;
  }
}
