package dev.kakehashi.protocol;

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

  private TypeOid() {}
}
