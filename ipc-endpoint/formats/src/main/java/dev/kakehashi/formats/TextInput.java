package dev.kakehashi.formats;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.RowBatchWriter;
import dev.kakehashi.protocol.TypeOid;
import dev.kakehashi.valuetext.ValueErrors;
import dev.kakehashi.valuetext.number.DecimalText;
import dev.kakehashi.valuetext.number.FloatText;
import dev.kakehashi.valuetext.number.IntegerText;
import dev.kakehashi.valuetext.time.Clock;
import dev.kakehashi.valuetext.time.DateTimeInput;
import dev.kakehashi.valuetext.time.IntervalFields;
import dev.kakehashi.valuetext.time.IntervalParser;
import dev.kakehashi.valuetext.time.Zone;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import java.util.UUID;

/// Sets values of a row batch from their text.
public final class TextInput {
  /// PostgreSQL's longest name is one byte shorter.
  private static final int NAME_BYTES = 64;

  private static final int UUID_DIGITS = 32;

  private TextInput() {}

  /// Sets a scalar value. Dates and times without a zone are in UTC.
  ///
  /// @return whether there was room
  /// @throws EngineException with PostgreSQL's SQLSTATE for text that is not of the type; FEATURE_NOT_SUPPORTED for a type without text
  ///     form here
  public static boolean set(RowBatchWriter writer, int column, int typeOid, String text) {
    switch (typeOid) {
      case TypeOid.BOOL -> writer.setBoolean(column, bool(text));
      case TypeOid.INT2 ->
          writer.setLong(
              column, IntegerText.parse(text, "smallint", Short.MIN_VALUE, Short.MAX_VALUE));
      case TypeOid.INT4 ->
          writer.setLong(
              column, IntegerText.parse(text, "integer", Integer.MIN_VALUE, Integer.MAX_VALUE));
      case TypeOid.INT8 ->
          writer.setLong(column, IntegerText.parse(text, "bigint", Long.MIN_VALUE, Long.MAX_VALUE));
      case TypeOid.FLOAT4 -> writer.setFloat(column, FloatText.parse4(text));
      case TypeOid.FLOAT8 -> writer.setDouble(column, FloatText.parse8(text));
      case TypeOid.DATE -> writer.setLong(column, DateTimeInput.date(text, Zone.UTC, Clock::now));
      case TypeOid.TIME -> writer.setLong(column, DateTimeInput.time(text, Zone.UTC, Clock::now));
      case TypeOid.TIMESTAMP ->
          writer.setLong(column, DateTimeInput.timestamp(text, Zone.UTC, Clock::now));
      case TypeOid.TIMESTAMPTZ ->
          writer.setLong(column, DateTimeInput.timestamptz(text, Zone.UTC, Clock::now));
      case TypeOid.INTERVAL -> {
        return writer.setInterval(column, IntervalParser.parse(text, IntervalFields.ALL));
      }
      case TypeOid.UUID -> {
        return writer.setUuid(column, uuid(text));
      }
      case TypeOid.NUMERIC -> {
        return writer.setNumeric(column, DecimalText.parse(text));
      }
      case TypeOid.BYTEA -> {
        return writer.setBytes(column, bytes(text));
      }
      case TypeOid.TIMETZ -> {
        return writer.setString(column, DateTimeInput.timeWithZone(text, -1, Zone.UTC, Clock::now));
      }
      case TypeOid.NAME -> {
        return writer.setBytes(column, shortened(text, NAME_BYTES - 1));
      }
      case TypeOid.CHAR -> {
        return writer.setBytes(column, shortened(text, 1));
      }
      case TypeOid.TEXT, TypeOid.VARCHAR, TypeOid.BPCHAR -> {
        return writer.setBytes(column, utf8(text));
      }
      default ->
          throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED,
              "type " + TypeName.of(typeOid, -1) + " cannot be read from text here");
    }
    return true;
  }

  /// @throws EngineException CHARACTER_NOT_IN_REPERTOIRE for what UTF-8 or PostgreSQL's text cannot hold
  public static byte[] utf8(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0) {
        throw new EngineException(
            ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
            "invalid byte sequence for encoding \"UTF8\": 0x00");
      }
      if (Character.isSurrogate(c)) {
        boolean pair =
            Character.isHighSurrogate(c)
                && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
        if (!pair) {
          throw new EngineException(
              ErrorCode.CHARACTER_NOT_IN_REPERTOIRE,
              "text has half a surrogate pair: U+%04X".formatted((int) c));
        }
        i++;
      }
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /// As many whole characters as fit.
  private static byte[] shortened(String text, int maxBytes) {
    byte[] utf8 = utf8(text);
    if (utf8.length <= maxBytes) {
      return utf8;
    }
    int end = maxBytes;
    while (end > 0 && (utf8[end] & 0xC0) == 0x80) {
      end--;
    }
    return java.util.Arrays.copyOf(utf8, end);
  }

  private static boolean bool(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "t", "true", "y", "yes", "on", "1" -> true;
      case "f", "false", "n", "no", "off", "0" -> false;
      default -> throw ValueErrors.invalidSyntax("boolean", text);
    };
  }

  /// 32 hexadecimal digits, with hyphens after any group of four, and braces around them.
  private static UUID uuid(String text) {
    boolean braces = text.startsWith("{") && text.endsWith("}") && text.length() > 1;
    int end = braces ? text.length() - 1 : text.length();
    long high = 0;
    long low = 0;
    int digits = 0;
    boolean hyphen = false;
    for (int i = braces ? 1 : 0; i < end; i++) {
      char c = text.charAt(i);
      if (c == '-' && digits > 0 && digits % 4 == 0 && digits < UUID_DIGITS && !hyphen) {
        hyphen = true;
        continue;
      }
      if (!HexFormat.isHexDigit(c) || digits == UUID_DIGITS) {
        throw ValueErrors.invalidSyntax("uuid", text);
      }
      hyphen = false;
      high = high << 4 | low >>> 60;
      low = low << 4 | HexFormat.fromHexDigit(c);
      digits++;
    }
    if (digits != UUID_DIGITS) {
      throw ValueErrors.invalidSyntax("uuid", text);
    }
    return new UUID(high, low);
  }

  /// Hexadecimal digits after `\x`; otherwise PostgreSQL's escape form.
  private static byte[] bytes(String text) {
    if (text.startsWith("\\x")) {
      try {
        return HexFormat.of().parseHex(text, 2, text.length());
      } catch (IllegalArgumentException e) {
        throw new EngineException(
            ErrorCode.INVALID_PARAMETER_VALUE,
            "invalid hexadecimal data: \"" + ValueErrors.shown(text) + "\"",
            e);
      }
    }
    byte[] in = text.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream out = new ByteArrayOutputStream(in.length);
    for (int i = 0; i < in.length; ) {
      if (in[i] != '\\') {
        out.write(in[i++]);
      } else if (i + 1 < in.length && in[i + 1] == '\\') {
        out.write('\\');
        i += 2;
      } else if (isOctal(in, i + 1, '3') && isOctal(in, i + 2, '7') && isOctal(in, i + 3, '7')) {
        out.write((in[i + 1] - '0') << 6 | (in[i + 2] - '0') << 3 | (in[i + 3] - '0'));
        i += 4;
      } else {
        throw ValueErrors.invalidSyntax("bytea", text);
      }
    }
    return out.toByteArray();
  }

  private static boolean isOctal(byte[] in, int at, char max) {
    return at < in.length && in[at] >= '0' && in[at] <= max;
  }
}
