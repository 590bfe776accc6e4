package dev.kakehashi.bulk.parquet.thrift;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Writes structures in Thrift's compact protocol into an array that grows. Not thread-safe.
///
/// Fields are written in the order of their numbers; [#begin(int)] and [#end()] surround a structure.
public final class CompactWriter {
  static final int TRUE = 1;
  static final int FALSE = 2;
  static final int BYTE = 3;
  static final int I16 = 4;
  static final int I32 = 5;
  static final int I64 = 6;
  static final int DOUBLE = 7;
  static final int BINARY = 8;
  static final int LIST = 9;
  static final int SET = 10;
  static final int MAP = 11;
  static final int STRUCT = 12;

  /// Deepest nesting of structures that is written.
  private static final int MAX_DEPTH = 16;

  private static final int SHORT_LIST = 15;

  private byte[] bytes = new byte[256];
  private int length;
  private final int[] outerFields = new int[MAX_DEPTH];
  private int depth;
  private int lastField;

  public byte[] bytes() {
    return bytes;
  }

  public int length() {
    return length;
  }

  /// Forgets what was written.
  public void reset() {
    length = 0;
    depth = 0;
    lastField = 0;
  }

  public void i32(int field, int value) {
    header(field, I32);
    varint(((long) value << 1) ^ (value >> 31));
  }

  public void i64(int field, long value) {
    header(field, I64);
    varint((value << 1) ^ (value >> 63));
  }

  public void i8(int field, int value) {
    header(field, BYTE);
    put(value);
  }

  public void bool(int field, boolean value) {
    header(field, value ? TRUE : FALSE);
  }

  public void binary(int field, byte[] value) {
    binary(field, value, 0, value.length);
  }

  public void binary(int field, byte[] value, int from, int count) {
    header(field, BINARY);
    rawBinary(value, from, count);
  }

  public void string(int field, String value) {
    binary(field, value.getBytes(StandardCharsets.UTF_8));
  }

  /// Begins a structure that is a field.
  public void begin(int field) {
    header(field, STRUCT);
    beginElement();
  }

  /// Begins a structure that is an element of a list, or the outermost one.
  public void beginElement() {
    outerFields[depth++] = lastField;
    lastField = 0;
  }

  public void end() {
    put(0);
    lastField = outerFields[--depth];
  }

  /// A structure without fields.
  public void empty(int field) {
    begin(field);
    end();
  }

  public void structs(int field, int count) {
    list(field, STRUCT, count);
  }

  public void i32s(int field, int count) {
    list(field, I32, count);
  }

  public void i64s(int field, int count) {
    list(field, I64, count);
  }

  public void binaries(int field, int count) {
    list(field, BINARY, count);
  }

  public void bools(int field, int count) {
    list(field, TRUE, count);
  }

  /// An element of a list of numbers.
  public void element(long value) {
    varint((value << 1) ^ (value >> 63));
  }

  public void element(byte[] value) {
    rawBinary(value, 0, value.length);
  }

  public void element(String value) {
    element(value.getBytes(StandardCharsets.UTF_8));
  }

  public void element(boolean value) {
    put(value ? TRUE : FALSE);
  }

  private void list(int field, int type, int count) {
    header(field, LIST);
    if (count < SHORT_LIST) {
      put(count << 4 | type);
    } else {
      put(SHORT_LIST << 4 | type);
      varint(count);
    }
  }

  private void header(int field, int type) {
    int delta = field - lastField;
    if (delta > 0 && delta <= 15) {
      put(delta << 4 | type);
    } else {
      put(type);
      varint(((long) field << 1) ^ (field >> 31));
    }
    lastField = field;
  }

  private void rawBinary(byte[] value, int from, int count) {
    varint(count);
    need(count);
    System.arraycopy(value, from, bytes, length, count);
    length += count;
  }

  private void varint(long value) {
    need(10);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes[length++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[length++] = (byte) rest;
  }

  private void put(int value) {
    need(1);
    bytes[length++] = (byte) value;
  }

  private void need(int count) {
    if (bytes.length - length < count) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
    }
  }
}
