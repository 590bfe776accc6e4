package dev.kakehashi.engine.type.text;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.BYTEA;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.EngineException;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.Native;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;

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
    set.add("~~", BOOL, (a, _, _) -> Like.matchesBytes(a[0], a[1]) ? 1 : 0, BYTEA, BYTEA);
    set.add("!~~", BOOL, (a, _, _) -> Like.matchesBytes(a[0], a[1]) ? 0 : 1, BYTEA, BYTEA);
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
    Native.copy(Varlena.data(bytes) + (length == 0 ? 0 : first), Varlena.data(result), length);
    return result;
  }
}
