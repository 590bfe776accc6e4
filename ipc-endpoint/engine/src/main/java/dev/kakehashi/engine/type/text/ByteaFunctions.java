package dev.kakehashi.engine.type.text;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.BYTEA;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.INT8;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.RawMemory;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/// Operators and functions of bytea.
final class ByteaFunctions {
  private ByteaFunctions() {}

  static void register(FunctionSet set) {
    Body length = (a, _, _) -> Varlena.length(a[0]);
    set.add("length", INT4, length, BYTEA).add("octet_length", INT4, length, BYTEA);
    set.add("bit_length", INT4, (a, _, _) -> 8L * Varlena.length(a[0]), BYTEA);
    set.add("||", BYTEA, (a, _, c) -> Strings.concat(a[0], a[1], c.heap), BYTEA, BYTEA);
    for (String name : new String[] {"substring", "substr"}) {
      set.add(name, BYTEA, (a, _, c) -> slice(a[0], a[1] - 1, Long.MAX_VALUE, c.heap), BYTEA, INT4);
      set.add(name, BYTEA, (a, _, c) -> substring(a[0], a[1], a[2], c.heap), BYTEA, INT4, INT4);
    }
    set.add("position", INT4, (a, _, _) -> StringSearch.bytePosition(a[0], a[1]), BYTEA, BYTEA);
    set.add("md5", TEXT, (a, _, c) -> Digests.md5(a[0], c.heap), BYTEA);
    for (int bits : new int[] {224, 256, 384, 512}) {
      set.add("sha" + bits, BYTEA, (a, _, c) -> Digests.sha(bits, a[0], c.heap), BYTEA);
    }
    set.add("crc32", INT8, (a, _, _) -> Digests.checksum(new CRC32(), a[0]), BYTEA);
    set.add("crc32c", INT8, (a, _, _) -> Digests.checksum(new CRC32C(), a[0]), BYTEA);
    set.add("reverse", BYTEA, (a, _, c) -> reverse(a[0], c.heap), BYTEA);
    bits(set);
    set.add("encode", TEXT, (a, _, c) -> ByteaEncodings.encode(a[0], a[1], c.heap), BYTEA, TEXT);
    set.add("decode", BYTEA, (a, _, c) -> ByteaEncodings.decode(a[0], a[1], c.heap), TEXT, TEXT);
    set.add(
        "overlay",
        BYTEA,
        (a, _, c) -> overlay(a[0], a[1], a[2], a[3], c.heap),
        BYTEA,
        BYTEA,
        INT4,
        INT4);
    set.add(
        "overlay",
        BYTEA,
        (a, _, c) -> overlay(a[0], a[1], a[2], Varlena.length(a[1]), c.heap),
        BYTEA,
        BYTEA,
        INT4);
    set.add("like", BOOL, (a, _, _) -> Like.matchesBytes(a[0], a[1]) ? 1 : 0, BYTEA, BYTEA);
    set.add("notlike", BOOL, (a, _, _) -> Like.matchesBytes(a[0], a[1]) ? 0 : 1, BYTEA, BYTEA);
    set.add("~~", BOOL, (a, _, _) -> Like.matchesBytes(a[0], a[1]) ? 1 : 0, BYTEA, BYTEA);
    set.add("!~~", BOOL, (a, _, _) -> Like.matchesBytes(a[0], a[1]) ? 0 : 1, BYTEA, BYTEA);
  }

  private static void bits(FunctionSet set) {
    set.add("get_byte", INT4, (a, _, _) -> ByteaBits.getByte(a[0], a[1]), BYTEA, INT4);
    set.add("get_bit", INT4, (a, _, _) -> ByteaBits.getBit(a[0], a[1]), BYTEA, INT8);
    set.add(
        "set_byte",
        BYTEA,
        (a, _, c) -> ByteaBits.setByte(a[0], a[1], a[2], c.heap),
        BYTEA,
        INT4,
        INT4);
    set.add(
        "set_bit",
        BYTEA,
        (a, _, c) -> ByteaBits.setBit(a[0], a[1], a[2], c.heap),
        BYTEA,
        INT8,
        INT4);
    set.add("bit_count", INT8, (a, _, _) -> ByteaBits.bitCount(a[0]), BYTEA);
  }

  /// Replaces `length` bytes from a position by others.
  private static long overlay(long bytes, long with, long from, long length, VarHeap heap) {
    if (from <= 0) {
      throw new EngineException(ErrorCode.SUBSTRING_ERROR, "negative substring length not allowed");
    }
    long after = from + length;
    if (after != (int) after) {
      throw SqlErrors.outOfRange("integer");
    }
    long head = slice(bytes, 0, from - 1, heap);
    long tail = slice(bytes, after - 1, Long.MAX_VALUE, heap);
    return Strings.concat(Strings.concat(head, with, heap), tail, heap);
  }

  private static long reverse(long bytes, VarHeap heap) {
    byte[] data = Varlena.bytes(bytes);
    for (int low = 0, high = data.length - 1; low < high; low++, high--) {
      byte kept = data[low];
      data[low] = data[high];
      data[high] = kept;
    }
    return Varlena.of(heap, data);
  }

  private static long substring(long bytes, long from, long length, VarHeap heap) {
    if (length < 0) {
      throw new EngineException(ErrorCode.SUBSTRING_ERROR, "negative substring length not allowed");
    }
    return slice(bytes, from - 1, from - 1 + length, heap);
  }

  private static long slice(long bytes, long begin, long end, VarHeap heap) {
    long first = Math.max(begin, 0);
    long last = Math.min(end, Varlena.length(bytes));
    long length = Math.max(last - first, 0);
    long result = Varlena.allocate(heap, length);
    RawMemory.copy(Varlena.data(bytes) + (length == 0 ? 0 : first), Varlena.data(result), length);
    return result;
  }
}
