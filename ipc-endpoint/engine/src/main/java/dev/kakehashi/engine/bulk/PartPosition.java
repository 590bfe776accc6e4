package dev.kakehashi.engine.bulk;

/// How far a part of a load is.
///
/// @param rows read: those loaded, filtered and rejected
/// @param done whether there are no more
record PartPosition(long rows, long loaded, long filtered, boolean done) {
  static final PartPosition BEGIN = new PartPosition(0, 0, 0, false);

  long rejected() {
    return rows - loaded - filtered;
  }

  PartPosition plus(PartPosition other) {
    return new PartPosition(
        rows + other.rows, loaded + other.loaded, filtered + other.filtered, done);
  }
}
