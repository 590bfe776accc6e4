package dev.kakehashi.bulk.parquet.thrift;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Reads structures in Thrift's compact protocol from an array that somebody else wrote. Not thread-safe.
///
/// No length is believed beyond the bytes that are there, and no nesting beyond [#MAX_DEPTH]. The error for a malformed structure is
/// BAD_COPY_FILE_FORMAT.
///
/// ```
/// reader.begin();
/// while (reader.next()) {
///   switch (reader.field()) {
///     case 1 -> a = reader.i32();
///     default -> reader.skip();
///   }
/// }
/// ```
public final class CompactReader {
  /// Deepest nesting of structures and lists.
  public static final int MAX_DEPTH = 24;

  private static final int LONG_LIST = 15;
  private static final int MAX_VARINT_BYTES = 10;

  private final byte[] bytes;
  private final int end;
  private int at;
  private final int[] outerFields = new int[MAX_DEPTH];
  private int depth;
  private int field;
  private int type;

  /// @param end of what may be read of the array
  public CompactReader(byte[] bytes, int from, int end) {
    this.bytes = bytes;
    this.at = from;
    this.end = end;
  }

  /// Where the next byte is.
  public int position() {
    return at;
  }

  /// Begins the structure that the reader is at: the outermost, a field or an element.
  public void begin() {
    if (depth == MAX_DEPTH) {
      throw malformed("is nested too deep");
    }
    outerFields[depth++] = field;
    field = 0;
  }

  /// Goes to the next field; false at the end of the structure.
  public boolean next() {
    int header = u8();
    type = header & 0x0F;
    if (header == 0) {
      field = outerFields[--depth];
      return false;
    }
    int delta = header >>> 4;
    long number = delta == 0 ? zigzag() : field + delta;
    if (number < 0 || number > Short.MAX_VALUE || type == 0 || type > CompactWriter.STRUCT) {
      throw malformed("has a field " + number + " of type " + type);
    }
    field = (int) number;
    return true;
  }

  public int field() {
    return field;
  }

  public boolean bool() {
    if (type != CompactWriter.TRUE && type != CompactWriter.FALSE) {
      throw unexpected();
    }
    return type == CompactWriter.TRUE;
  }

  public int i32() {
    if (type == CompactWriter.BYTE) {
      return (byte) u8();
    }
    if (type != CompactWriter.I32 && type != CompactWriter.I16) {
      throw unexpected();
    }
    return intElement();
  }

  public long i64() {
    if (type != CompactWriter.I64 && type != CompactWriter.I32 && type != CompactWriter.I16) {
      throw unexpected();
    }
    return zigzag();
  }

  public byte[] binary() {
    if (type != CompactWriter.BINARY) {
      throw unexpected();
    }
    return binaryElement();
  }

  public String string() {
    return new String(binary(), StandardCharsets.UTF_8);
  }

  /// Begins a structure that is a field.
  public void struct() {
    if (type != CompactWriter.STRUCT) {
      throw unexpected();
    }
    begin();
  }

  /// Begins a list of structures.
  ///
  /// @return how many there are: each takes a byte at least, so no more than bytes are left
  public int structs() {
    return list(CompactWriter.STRUCT);
  }

  public int i32s() {
    return list(CompactWriter.I32);
  }

  public int i64s() {
    return list(CompactWriter.I64);
  }

  public int binaries() {
    return list(CompactWriter.BINARY);
  }

  /// Begins a list of booleans.
  public int bools() {
    if (type == CompactWriter.LIST && at < end && (bytes[at] & 0x0F) == CompactWriter.FALSE) {
      return list(CompactWriter.FALSE);
    }
    return list(CompactWriter.TRUE);
  }

  public int intElement() {
    long value = zigzag();
    if (value != (int) value) {
      throw malformed("has a number that is too large");
    }
    return (int) value;
  }

  public long longElement() {
    return zigzag();
  }

  public boolean boolElement() {
    return u8() == CompactWriter.TRUE;
  }

  public byte[] binaryElement() {
    int count = count();
    byte[] value = Arrays.copyOfRange(bytes, at, at + count);
    at += count;
    return value;
  }

  public String stringElement() {
    return new String(binaryElement(), StandardCharsets.UTF_8);
  }

  /// Steps over the value of the field.
  public void skip() {
    skip(type, depth);
  }

  private void skip(int skipped, int nesting) {
    if (nesting >= MAX_DEPTH) {
      throw malformed("is nested too deep");
    }
    switch (skipped) {
      case CompactWriter.TRUE, CompactWriter.FALSE -> {
        // The value is in the type.
      }
      case CompactWriter.BYTE -> u8();
      case CompactWriter.I16, CompactWriter.I32, CompactWriter.I64 -> varint();
      case CompactWriter.DOUBLE -> advance(Double.BYTES);
      case CompactWriter.BINARY -> advance(count());
      case CompactWriter.LIST, CompactWriter.SET -> skipList(nesting);
      case CompactWriter.MAP -> skipMap(nesting);
      case CompactWriter.STRUCT -> skipStruct(nesting);
      default -> throw malformed("has a value of type " + skipped);
    }
  }

  private void skipStruct(int nesting) {
    for (int header = u8(); header != 0; header = u8()) {
      if (header >>> 4 == 0) {
        varint();
      }
      skip(header & 0x0F, nesting + 1);
    }
  }

  private void skipList(int nesting) {
    int header = u8();
    int element = header & 0x0F;
    int count = header >>> 4 == LONG_LIST ? count() : header >>> 4;
    for (int i = 0; i < count; i++) {
      skipElement(element, nesting + 1);
    }
  }

  private void skipMap(int nesting) {
    int count = count();
    if (count == 0) {
      return;
    }
    int types = u8();
    for (int i = 0; i < count; i++) {
      skipElement(types >>> 4, nesting + 1);
      skipElement(types & 0x0F, nesting + 1);
    }
  }

  /// A boolean takes a byte in a list, and none as a field.
  private void skipElement(int element, int nesting) {
    if (element == CompactWriter.TRUE || element == CompactWriter.FALSE) {
      u8();
    } else {
      skip(element, nesting);
    }
  }

  private int list(int element) {
    if (type != CompactWriter.LIST) {
      throw unexpected();
    }
    int header = u8();
    int count = header >>> 4 == LONG_LIST ? count() : header >>> 4;
    if (count > end - at) {
      throw malformed("has a list that is longer than the file");
    }
    if (count > 0 && (header & 0x0F) != element) {
      throw malformed("has a list of other elements");
    }
    return count;
  }

  /// A length, not more than the bytes that are left.
  private int count() {
    long count = varint();
    if (count < 0 || count > end - at) {
      throw malformed("has a value that is longer than the file");
    }
    return (int) count;
  }

  private void advance(int count) {
    if (count > end - at) {
      throw malformed("breaks off");
    }
    at += count;
  }

  private long zigzag() {
    long value = varint();
    return (value >>> 1) ^ -(value & 1);
  }

  private long varint() {
    long value = 0;
    for (int i = 0; i < MAX_VARINT_BYTES; i++) {
      int each = u8();
      value |= (long) (each & 0x7F) << (7 * i);
      if (each < 0x80) {
        return value;
      }
    }
    throw malformed("has a number that is too long");
  }

  private int u8() {
    if (at >= end) {
      throw malformed("breaks off");
    }
    return bytes[at++] & 0xFF;
  }

  private EngineException unexpected() {
    return malformed("has a field " + field + " of the unexpected type " + type);
  }

  private static EngineException malformed(String what) {
    return new EngineException(
        ErrorCode.BAD_COPY_FILE_FORMAT, "metadata of the Parquet file " + what);
  }
}
