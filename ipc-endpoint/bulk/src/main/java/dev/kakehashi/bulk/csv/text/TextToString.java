package dev.kakehashi.bulk.csv.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.TypeOid;
import java.util.Arrays;

/// text, varchar, char, name and `"char"`.
final class TextToString extends TextColumn {
  private static final int MODIFIER_BASE = 4;
  private static final int NAME_BYTES = 63;
  private static final long BLANKS = Eight.pattern((byte) ' ');

  /// Characters at most; -1: any number.
  private final int maxCharacters;

  /// Bytes at most, what is more is cut; -1: any number.
  private final int maxBytes;

  private final boolean isPadded;

  TextToString(int typeOid, int modifier) {
    boolean hasLength = typeOid == TypeOid.VARCHAR || typeOid == TypeOid.BPCHAR;
    maxCharacters = hasLength && modifier >= MODIFIER_BASE ? modifier - MODIFIER_BASE : -1;
    isPadded = typeOid == TypeOid.BPCHAR && maxCharacters >= 0;
    maxBytes = typeOid == TypeOid.NAME ? NAME_BYTES : typeOid == TypeOid.CHAR ? 1 : -1;
  }

  @Override
  public void set(byte[] bytes, int from, int to, TextBatch batch, int column) {
    int length = to - from;
    if (isPadded && length <= maxCharacters && isAscii(bytes, from, to)) {
      padded(bytes, from, length, batch, column);
      return;
    }
    if (isPadded || (maxBytes >= 0 && length > maxBytes)) {
      special(bytes, from, to, batch, column);
      return;
    }
    int at = batch.varlena(column, length);
    if (!copied(bytes, from, length, batch.memory, at)) {
      FileUtf8.check(bytes, from, to);
    }
    if (maxCharacters >= 0 && length > maxCharacters) {
      limited(bytes, from, to, batch, column);
    }
  }

  /// Copies bytes; what is behind them up to a multiple of eight becomes zero.
  ///
  /// @return whether all are ASCII and none is zero
  private static boolean copied(byte[] bytes, int from, int length, byte[] into, int at) {
    long high = 0;
    long nul = 0;
    int i = 0;
    for (; i + 8 <= length; i += 8) {
      long eight = Eight.load(bytes, from + i);
      Eight.store(into, at + i, eight);
      high |= eight;
      nul |= (eight - Eight.ONES) & ~eight;
    }
    if (i < length) {
      long mask = Eight.first(length - i);
      long eight = Eight.load(bytes, from + i) & mask;
      Eight.store(into, at + i, eight);
      high |= eight;
      long ones = eight | (Eight.ONES & ~mask);
      nul |= (ones - Eight.ONES) & ~ones;
    }
    return ((high | nul) & Eight.HIGHS) == 0;
  }

  /// Whether all are ASCII and none is zero.
  private static boolean isAscii(byte[] bytes, int from, int to) {
    long found = 0;
    for (int at = from; at < to; at += 8) {
      long eight = Eight.load(bytes, at);
      if (to - at < 8) {
        long mask = Eight.first(to - at);
        eight = (eight & mask) | (Eight.ONES & ~mask);
      }
      found |= eight | ((eight - Eight.ONES) & ~eight);
    }
    return (found & Eight.HIGHS) == 0;
  }

  /// A text with the blanks behind it that its type wants.
  private void padded(byte[] bytes, int from, int length, TextBatch batch, int column) {
    int at = batch.varlena(column, maxCharacters);
    byte[] memory = batch.memory;
    int i = 0;
    for (; i + 8 <= maxCharacters; i += 8) {
      Eight.store(memory, at + i, blankBehind(bytes, from + i, length - i));
    }
    if (i < maxCharacters) {
      long eight = blankBehind(bytes, from + i, length - i);
      Eight.store(memory, at + i, eight & Eight.first(maxCharacters - i));
    }
  }

  /// Eight bytes, of which those behind the first `left` are blanks.
  private static long blankBehind(byte[] bytes, int at, int left) {
    if (left <= 0) {
      return BLANKS;
    }
    long mask = Eight.first(left);
    return (Eight.load(bytes, at) & mask) | (BLANKS & ~mask);
  }

  /// A text that may have too many characters: blanks at its end go.
  private void limited(byte[] bytes, int from, int to, TextBatch batch, int column) {
    int end = endOfLimit(bytes, from, to);
    if (end < to) {
      batch.setVarlena(column, Arrays.copyOfRange(bytes, from, end));
    }
  }

  /// Behind the last character that the type takes; what is behind are blanks.
  private int endOfLimit(byte[] bytes, int from, int to) {
    int characters = 0;
    int end = from;
    while (end < to) {
      boolean begins = (bytes[end] & 0xC0) != 0x80;
      if (begins && characters == maxCharacters) {
        break;
      }
      characters += begins ? 1 : 0;
      end++;
    }
    for (int i = end; i < to; i++) {
      if (bytes[i] != ' ') {
        throw new EngineException(
            ErrorCode.STRING_DATA_RIGHT_TRUNCATION,
            "value too long for type %s(%d)"
                .formatted(isPadded ? "character" : "character varying", maxCharacters));
      }
    }
    return end;
  }

  private void special(byte[] bytes, int from, int to, TextBatch batch, int column) {
    FileUtf8.check(bytes, from, to);
    if (!isPadded) {
      int end = from + maxBytes;
      while (end > from && (bytes[end] & 0xC0) == 0x80) {
        end--;
      }
      batch.setVarlena(column, Arrays.copyOfRange(bytes, from, end));
      return;
    }
    int end = to - from > maxCharacters ? endOfLimit(bytes, from, to) : to;
    int characters = 0;
    for (int i = from; i < end; i++) {
      characters += (bytes[i] & 0xC0) != 0x80 ? 1 : 0;
    }
    int length = end - from;
    int blanks = maxCharacters - characters;
    int at = batch.varlena(column, length + blanks);
    System.arraycopy(bytes, from, batch.memory, at, length);
    Arrays.fill(batch.memory, at + length, at + length + blanks, (byte) ' ');
  }
}
