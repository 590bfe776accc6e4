package dev.kakehashi.protocol;

import java.util.Arrays;
import java.util.stream.IntStream;

/// PostgreSQL's OIDs of the types that cross the bridge (pg_type.dat).
public final class TypeOid {
  public static final int UNSPECIFIED = 0;
  public static final int BOOL = 16;
  public static final int BYTEA = 17;
  public static final int INT8 = 20;
  public static final int INT2 = 21;
  public static final int INT4 = 23;
  public static final int TEXT = 25;
  public static final int FLOAT4 = 700;
  public static final int FLOAT8 = 701;
  public static final int BPCHAR = 1042;
  public static final int VARCHAR = 1043;
  public static final int DATE = 1082;
  public static final int TIME = 1083;
  public static final int TIMESTAMP = 1114;
  public static final int TIMESTAMPTZ = 1184;
  public static final int INTERVAL = 1186;
  public static final int NUMERIC = 1700;
  public static final int UUID = 2950;

  /// The type `"char"`.
  public static final int CHAR = 18;

  public static final int NAME = 19;
  public static final int JSON = 114;
  public static final int TIMETZ = 1266;
  public static final int JSONB = 3802;

  private static final int[][] ARRAYS = {
    {1000, BOOL},
    {1001, BYTEA},
    {1002, CHAR},
    {1003, NAME},
    {1005, INT2},
    {1007, INT4},
    {1009, TEXT},
    {1014, BPCHAR},
    {1015, VARCHAR},
    {1016, INT8},
    {1021, FLOAT4},
    {1022, FLOAT8},
    {1115, TIMESTAMP},
    {1182, DATE},
    {1183, TIME},
    {1185, TIMESTAMPTZ},
    {1187, INTERVAL},
    {1231, NUMERIC},
    {1270, TIMETZ},
    {2951, UUID},
    {199, JSON},
    {3807, JSONB}
  };

  private TypeOid() {}

  /// The type of the elements of an array type; [#UNSPECIFIED] if it is none.
  public static int element(int arrayOid) {
    for (int[] array : ARRAYS) {
      if (array[0] == arrayOid) {
        return array[1];
      }
    }
    return UNSPECIFIED;
  }

  /// The type of arrays of a type; [#UNSPECIFIED] if there is none.
  public static int arrayOf(int elementOid) {
    for (int[] array : ARRAYS) {
      if (array[1] == elementOid) {
        return array[0];
      }
    }
    return UNSPECIFIED;
  }

  /// The types for which [#isTextForm(int)] holds, in no particular order.
  public static int[] textForms() {
    return IntStream.concat(
            IntStream.of(CHAR, NAME, JSON, TIMETZ, JSONB),
            Arrays.stream(ARRAYS).mapToInt(array -> array[0]))
        .toArray();
  }

  /// Whether values cross the bridge as PostgreSQL writes them: text in a varlena.
  public static boolean isTextForm(int oid) {
    return switch (oid) {
      case CHAR, NAME, JSON, TIMETZ, JSONB -> true;
      default -> element(oid) != UNSPECIFIED;
    };
  }
}
