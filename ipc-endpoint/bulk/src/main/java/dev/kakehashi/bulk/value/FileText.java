package dev.kakehashi.bulk.value;

import dev.kakehashi.bulk.value.FileType.Kind;
import dev.kakehashi.formats.ByteText;
import dev.kakehashi.formats.Output;
import dev.kakehashi.valuetext.number.Digits;
import dev.kakehashi.valuetext.number.FloatDigits;
import dev.kakehashi.valuetext.time.Calendars;
import dev.kakehashi.valuetext.time.TimeText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Values of a file as text, as PostgreSQL would write them, also those that it cannot hold: nanoseconds have nine digits. For texts that
/// are no text in the file, and for rows that are rejected; not for speed. Not thread-safe.
public final class FileText {
  private static final int UNIX_EPOCH_DAYS = Calendars.UNIX_EPOCH_DAYS;
  private static final long SECONDS_PER_DAY = 86_400;
  private static final int NANO_DIGITS = 9;
  private static final int NANOS_PER_SECOND = 1_000_000_000;

  /// Julian day of 1970-01-01.
  private static final long UNIX_JULIAN_DAY = 2_440_588;

  private final GrowingBytes bytes = new GrowingBytes();
  private final Output out = new Output(bytes);

  /// A value that is not null.
  public byte[] of(FileValues values, int index) {
    bytes.clear();
    try {
      put(values, index);
      out.drain();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.copy();
  }

  /// A row as a line of CSV, without a line break after it. Nulls are empty; empty texts are quoted.
  public static byte[] line(List<FileValues> columns, int row) {
    FileText text = new FileText();
    GrowingBytes line = new GrowingBytes();
    for (int i = 0; i < columns.size(); i++) {
      if (i > 0) {
        line.write(',');
      }
      FileValues column = columns.get(i);
      if (!column.isNull(row)) {
        quoted(line, text.of(column, row));
      }
    }
    return line.copy();
  }

  private static void quoted(GrowingBytes line, byte[] value) {
    boolean quoted = value.length == 0;
    for (byte each : value) {
      quoted |= each == ',' || each == '"' || each == '\n' || each == '\r';
    }
    if (!quoted) {
      line.write(value, 0, value.length);
      return;
    }
    line.write('"');
    for (byte each : value) {
      if (each == '"') {
        line.write('"');
      }
      line.write(each);
    }
    line.write('"');
  }

  private void put(FileValues values, int index) throws IOException {
    FileType type = values.type();
    Kind kind = type.kind();
    switch (kind.storage()) {
      case LONG -> putLong(values, index, values.longs()[index]);
      case BYTES -> putBytes(values, index, values.starts()[index], values.lengths()[index]);
      case LIST -> putList(values.items(), values.starts()[index], values.lengths()[index]);
      case NONE -> {
        // nothing is there
      }
    }
  }

  private void putLong(FileValues values, int index, long value) throws IOException {
    FileType type = values.type();
    switch (type.kind()) {
      case BOOL -> out.put(value == 0 ? 'f' : 't');
      case UINT -> out.ascii(Long.toUnsignedString(value));
      case FLOAT -> {
        out.need(FloatDigits.MAX_BYTES);
        double wide = Double.longBitsToDouble(value);
        out.at =
            type.bits() <= Float.SIZE
                ? FloatDigits.put(out.bytes, out.at, (float) wide)
                : FloatDigits.put(out.bytes, out.at, wide);
      }
      case DECIMAL -> out.ascii(FileDecimals.of(values, index).toPlainString());
      case DATE -> putDate(value);
      case TIME -> {
        long perSecond = type.units().perSecond();
        putClock(
            Math.floorDiv(value, perSecond),
            (int) (Math.floorMod(value, perSecond) * (NANOS_PER_SECOND / perSecond)));
      }
      case TIMESTAMP -> {
        long perSecond = type.units().perSecond();
        putTimestamp(
            Math.floorDiv(value, perSecond),
            (int) (Math.floorMod(value, perSecond) * (NANOS_PER_SECOND / perSecond)));
        if (type.utc()) {
          out.ascii("+00");
        }
      }
      case INTERVAL_MONTHS -> putInterval((int) value, 0, 0);
      default -> {
        out.need(Digits.MAX_INTEGER_BYTES);
        out.at = Digits.putLong(out.bytes, out.at, value);
      }
    }
  }

  /// @param days since 1970-01-01; far outside of PostgreSQL's they are a number
  private void putDate(long days) throws IOException {
    long since = days - UNIX_EPOCH_DAYS;
    if (days < Integer.MIN_VALUE / 2 || days > Integer.MAX_VALUE - 1) {
      out.ascii("day " + days);
      return;
    }
    out.need(TimeText.MAX_BYTES);
    out.at = TimeText.putDate(out.bytes, out.at, (int) since);
  }

  private void putTimestamp(long seconds, int nanos) throws IOException {
    long days = Math.floorDiv(seconds, SECONDS_PER_DAY);
    putDate(days);
    out.put(' ');
    putClock(Math.floorMod(seconds, SECONDS_PER_DAY), nanos);
  }

  private void putClock(long seconds, int nanos) throws IOException {
    if (seconds < 0 || seconds > SECONDS_PER_DAY) {
      out.ascii(seconds + " seconds");
      return;
    }
    out.ascii("%02d:%02d:%02d".formatted(seconds / 3600, seconds / 60 % 60, seconds % 60));
    if (nanos != 0) {
      out.put('.');
      String digits = "%09d".formatted(nanos);
      int end = NANO_DIGITS;
      while (digits.charAt(end - 1) == '0') {
        end--;
      }
      out.ascii(digits.substring(0, end));
    }
  }

  private void putBytes(FileValues values, int index, int start, int length) throws IOException {
    byte[] shared = values.bytes();
    switch (values.type().kind()) {
      case TEXT, JSON -> out.put(shared, start, length);
      case UUID -> {
        out.need(ByteText.UUID_BYTES);
        out.at = ByteText.putUuid(out.bytes, out.at, MemorySegment.ofArray(shared), start);
      }
      case DECIMAL_BIG_ENDIAN, DECIMAL_LITTLE_ENDIAN ->
          out.ascii(FileDecimals.of(values, index).toPlainString());
      case INT96 -> {
        long nanos = (long) BatchFill.LONGS.get(shared, start);
        long day = Integer.toUnsignedLong((int) BatchFill.INTS.get(shared, start + 8));
        // Nanoseconds before or after their day count on to another one.
        long second = Math.floorDiv(nanos, NANOS_PER_SECOND);
        putDate(day - UNIX_JULIAN_DAY + Math.floorDiv(second, SECONDS_PER_DAY));
        out.put(' ');
        putClock(Math.floorMod(second, SECONDS_PER_DAY), Math.floorMod(nanos, NANOS_PER_SECOND));
      }
      case INTERVAL_DAYS_MILLIS ->
          putInterval(0, i32(shared, start), 1000L * i32(shared, start + 4));
      case INTERVAL_UNSIGNED ->
          putInterval(
              i32(shared, start),
              i32(shared, start + 4),
              1000L * Integer.toUnsignedLong(i32(shared, start + 8)));
      case INTERVAL_NANOS ->
          putInterval(
              i32(shared, start),
              i32(shared, start + 4),
              (long) BatchFill.LONGS.get(shared, start + 8) / 1000);
      case INTERVAL_MICROS ->
          putInterval(
              i32(shared, start),
              i32(shared, start + 4),
              (long) BatchFill.LONGS.get(shared, start + 8));
      default -> {
        out.ascii("\\x");
        ByteText.putHex(out, MemorySegment.ofArray(shared), start, length);
      }
    }
  }

  private static int i32(byte[] bytes, int at) {
    return (int) BatchFill.INTS.get(bytes, at);
  }

  private void putInterval(int months, int days, long micros) throws IOException {
    out.need(TimeText.MAX_INTERVAL_BYTES);
    out.at = TimeText.putInterval(out.bytes, out.at, months, days, micros);
  }

  private void putList(FileValues items, int start, int length) throws IOException {
    FileText each = new FileText();
    out.put('{');
    for (int i = start; i < start + length; i++) {
      if (i > start) {
        out.put(',');
      }
      if (items.isNull(i)) {
        ElementText.putNull(out);
      } else {
        byte[] value = each.of(items, i);
        ElementText.put(out, value, value.length);
      }
    }
    out.put('}');
  }
}
