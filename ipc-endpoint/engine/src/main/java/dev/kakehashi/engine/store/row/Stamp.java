package dev.kakehashi.engine.store.row;

/// The word that says who made a row version and when.
///
/// ```
/// bit 63     62         61..16     15..0
///      0   tombstone   commit timestamp (62 bits)
///      1   tombstone   keys, statement   slot of the transaction
/// ```
///
/// Bit 61 of a version in flight, "keys", says that nobody may hold the row's keys beside it: its transaction has inserted or deleted the
/// row, has changed a key that can be referenced, or has locked it so. It stays with the versions that the same transaction makes on top,
/// and goes with the commit.
///
/// A tombstone is the version of a deleted row. The timestamp 0 with a tombstone marks a row slot that holds nothing.
public final class Stamp {
  static final long IN_FLIGHT = 1L << 63;
  public static final long TOMBSTONE = 1L << 62;
  public static final long TIMESTAMP_MASK = TOMBSTONE - 1;
  public static final int SLOT_BITS = 16;

  /// No row here.
  public static final long NOTHING = TOMBSTONE;

  /// Timestamp of everything that was there when the store was opened.
  public static final long FIRST_TIMESTAMP = 1;

  /// Bit "keys" of a version in flight; above the bits of a statement's number.
  private static final long KEYS = 1L << 61;

  private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;

  private Stamp() {}

  public static long inFlight(int slot, int statement, boolean tombstone) {
    return IN_FLIGHT | (tombstone ? TOMBSTONE : 0) | (long) statement << SLOT_BITS | slot;
  }

  public static boolean isInFlight(long stamp) {
    return stamp < 0;
  }

  /// The stamp of a version in flight beside which nobody may hold the row's keys.
  public static long lockingKeys(long stamp) {
    return stamp | KEYS;
  }

  /// Whether a version in flight keeps others from holding the row's keys.
  public static boolean locksKeys(long stamp) {
    return (stamp & (KEYS | TOMBSTONE)) != 0;
  }

  public static boolean isTombstone(long stamp) {
    return (stamp & TOMBSTONE) != 0;
  }

  public static long timestamp(long stamp) {
    return stamp & TIMESTAMP_MASK;
  }

  public static int slot(long stamp) {
    return (int) stamp & SLOT_MASK;
  }

  public static int statement(long stamp) {
    return (int) ((stamp & TIMESTAMP_MASK) >>> SLOT_BITS);
  }

  /// The stamp of an in-flight version once it is committed.
  static long committed(long stamp, long timestamp) {
    return (stamp & TOMBSTONE) | timestamp;
  }
}
