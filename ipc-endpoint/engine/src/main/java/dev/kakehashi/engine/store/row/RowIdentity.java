package dev.kakehashi.engine.store.row;

/// Identity of a row outside of the store: one number for each row that a table has ever had, while the store is open. Immutable,
/// thread-safe.
///
/// A row identifier alone names another row as soon as its slot is used again. So an identity also has how often that has happened:
///
/// ```
/// bit 63..40  reuses of the slot, mixed with the table's salt
///     39..12  number of the page
///     11..0   slot
/// ```
///
/// The salt is another one each time a table is opened, made or emptied, so that what a client has kept from before is hardly an identity.
/// An update keeps the slot, and so the identity. A transaction that sees a row keeps its slot from being freed, and thus both numbers as
/// they are while it looks.
public final class RowIdentity {
  static final int SLOT_BITS = 12;
  static final int PAGE_BITS = 28;
  private static final int REUSE_SHIFT = SLOT_BITS + PAGE_BITS;

  /// A slot that was used again so often is not used any more: 16,777,215 times, which takes a day of a slot that the collector frees every
  /// 5 ms.
  static final int MOST_REUSES = (1 << (Long.SIZE - REUSE_SHIFT)) - 1;

  private RowIdentity() {}

  /// @param salt of the table; what of it is above the reuses does not count
  public static long of(long rowId, int reuses, int salt) {
    long place = (rowId >>> Page.SLOT_BITS) << SLOT_BITS | Page.slotOf(rowId);
    return (long) (reuses ^ salt) << REUSE_SHIFT | place;
  }

  /// Identifier of the row, if it is one: what the identity says of reuses is to be compared.
  public static long rowId(long identity) {
    long page = (identity >>> SLOT_BITS) & ((1L << PAGE_BITS) - 1);
    return page << Page.SLOT_BITS | (identity & ((1 << SLOT_BITS) - 1));
  }
}
