package dev.kakehashi.formats;

import dev.kakehashi.valuetext.number.Digits;
import dev.kakehashi.valuetext.number.FloatDigits;
import dev.kakehashi.valuetext.time.TimeText;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/// Values as PostgreSQL writes them with DateStyle ISO, IntervalStyle postgres and time zone UTC, without quotes of a format.
public final class PlainText {
  private static final byte[] HEX_PREFIX = "\\x".getBytes(StandardCharsets.US_ASCII);

  private PlainText() {}

  /// @param word of a value that is not null
  public static void put(Output out, ValueForm form, BatchView view, long word) throws IOException {
    MemorySegment memory = view.memory();
    switch (form) {
      case BOOL -> out.put(word != 0 ? 't' : 'f');
      case INT2, INT4, INT8 -> {
        out.need(Digits.MAX_INTEGER_BYTES);
        out.at = Digits.putLong(out.bytes, out.at, word);
      }
      case FLOAT4 -> {
        out.need(FloatDigits.MAX_BYTES);
        out.at = FloatDigits.put(out.bytes, out.at, Float.intBitsToFloat((int) word));
      }
      case FLOAT8 -> {
        out.need(FloatDigits.MAX_BYTES);
        out.at = FloatDigits.put(out.bytes, out.at, Double.longBitsToDouble(word));
      }
      case DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> {
        out.need(TimeText.MAX_BYTES);
        byte[] bytes = out.bytes;
        out.at =
            switch (form) {
              case DATE -> TimeText.putDate(bytes, out.at, (int) word);
              case TIME -> TimeText.putTime(bytes, out.at, word);
              case TIMESTAMP -> TimeText.putTimestamp(bytes, out.at, word, ' ');
              default -> TimeText.putTimestamptz(bytes, out.at, word, ' ');
            };
      }
      case INTERVAL -> {
        long at = view.fixedAt(word, 16);
        out.need(TimeText.MAX_INTERVAL_BYTES);
        out.at =
            TimeText.putInterval(
                out.bytes,
                out.at,
                memory.get(BatchView.I32, at + 12),
                memory.get(BatchView.I32, at + 8),
                memory.get(BatchView.I64, at));
      }
      case UUID -> {
        long at = view.fixedAt(word, 16);
        out.need(ByteText.UUID_BYTES);
        out.at = ByteText.putUuid(out.bytes, out.at, memory, at);
      }
      case NUMERIC -> {
        long at = view.payloadAt(word);
        NumericText.putNumeric(out, view, at, view.payloadBytes(word));
      }
      case BYTEA -> {
        long at = view.payloadAt(word);
        out.put(HEX_PREFIX);
        ByteText.putHex(out, memory, at, view.payloadBytes(word));
      }
      case TEXT, JSON, ARRAY -> {
        long at = view.payloadAt(word);
        view.putTo(out, at, view.payloadBytes(word));
      }
    }
  }
}
