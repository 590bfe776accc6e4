package dev.kakehashi.engine.type;

import dev.kakehashi.engine.store.api.ColumnKind;
import dev.kakehashi.engine.store.index.KeyBuffer;
import dev.kakehashi.engine.store.index.KeyCodec;
import dev.kakehashi.engine.type.array.ArrayValue;
import dev.kakehashi.engine.type.value.Records;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.TypeOid;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// Values that WITH RECURSIVE orders by or compares. SEARCH orders by a record (BREADTH FIRST) or an array of records (DEPTH FIRST). The
/// path of CYCLE is an array of records, too. A value is a string of bytes that orders as PostgreSQL orders the records. The text that
/// PostgreSQL would show follows, and then its number of bytes.
///
/// The first part has the columns' keys as an index has them, with a byte before each record and one behind the last, so that none is the
/// beginning of another, and a shorter path comes before those that go on from it.
public final class SearchOrder {
  private static final int NOT_NULL = 1;
  private static final int NULL = 2;
  private static final int RECORD = 1;
  private static final int END = 0;
  private static final int FIRST_BYTES = 64;

  private SearchOrder() {}

  /// Whether rows can be ordered by columns of a type.
  public static boolean takes(int oid) {
    return oid == TypeOid.NAME || (Types.isKnown(oid) && !TypeOid.isTextForm(oid));
  }

  /// The record of values.
  ///
  /// @param oids types of the values
  public static ScalarFunction record(int[] oids) {
    return function(
        oids,
        Types.RECORD,
        (values, nulls, context) -> {
          KeyBuffer key = new KeyBuffer(FIRST_BYTES);
          append(key, oids, values, nulls, 0);
          return word(key, Records.text(oids, values, nulls, 0, context), context.heap);
        });
  }

  /// Whether an array of records has one that is shown as that of values is: the array, and the values.
  ///
  /// @param oids types of array and values
  public static ScalarFunction contains(int[] oids) {
    return function(
        oids,
        TypeOid.BOOL,
        (values, nulls, context) -> {
          String sought = Records.text(oids, values, nulls, 1, context);
          return ArrayValue.parse(text(values[0])).elements().contains(sought) ? 1 : 0;
        });
  }

  /// An array of records with one more, made of values: the array, which may be null, and the values.
  ///
  /// @param oids types of array and values
  public static ScalarFunction longer(int[] oids) {
    return function(
        oids,
        Types.RECORD_ARRAY,
        (values, nulls, context) -> {
          KeyBuffer key = new KeyBuffer(FIRST_BYTES);
          String before = "";
          if ((nulls & 1) == 0) {
            byte[] path = Varlena.bytes(values[0]);
            int shown = shownBytes(path);
            key.set(path, 0, path.length - Integer.BYTES - shown - 1);
            String text = text(values[0]);
            before = text.substring(1, text.length() - 1) + ",";
          }
          append(key, oids, values, nulls, 1);
          String added =
              ArrayValue.of(List.of(Records.text(oids, values, nulls, 1, context))).toString();
          return word(key, "{" + before + added.substring(1), context.heap);
        });
  }

  private static ScalarFunction function(int[] oids, int result, ScalarFunction.Body body) {
    boolean fixed = Arrays.stream(oids).noneMatch(oid -> oid == TypeOid.TIMESTAMPTZ);
    return new ScalarFunction("search order", oids, result, false, fixed, body);
  }

  private static void append(KeyBuffer key, int[] oids, long[] values, long nulls, int from) {
    key.putByte(RECORD);
    for (int i = from; i < values.length; i++) {
      if ((nulls >>> i & 1) != 0) {
        key.putByte(NULL);
      } else {
        key.putByte(NOT_NULL);
        // A path with others has no order that means something.
        ColumnKind kind = takes(oids[i]) ? Types.kind(oids[i]) : ColumnKind.VARLENA;
        KeyCodec.appendValue(key, kind, values[i]);
      }
    }
  }

  private static long word(KeyBuffer key, String shown, VarHeap heap) {
    byte[] text = shown.getBytes(StandardCharsets.UTF_8);
    ByteBuffer all = ByteBuffer.allocate(key.length + 1 + text.length + Integer.BYTES);
    all.put(key.bytes, 0, key.length).put((byte) END).put(text).putInt(text.length);
    return Varlena.of(heap, all.array());
  }

  /// Text that PostgreSQL shows.
  public static String text(long word) {
    byte[] all = Varlena.bytes(word);
    int shown = shownBytes(all);
    return new String(all, all.length - Integer.BYTES - shown, shown, StandardCharsets.UTF_8);
  }

  private static int shownBytes(byte[] all) {
    return ByteBuffer.wrap(all).getInt(all.length - Integer.BYTES);
  }
}
