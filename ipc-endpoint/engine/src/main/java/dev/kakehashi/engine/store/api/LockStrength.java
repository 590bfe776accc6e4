package dev.kakehashi.engine.store.api;

import org.jspecify.annotations.Nullable;

/// How strongly a transaction holds a row until its end: the four row locks of PostgreSQL, from the weakest to the strongest. A stronger
/// lock keeps from others all that a weaker one keeps from them.
///
/// |  | KEY_SHARE | SHARE | NO_KEY_UPDATE | UPDATE |
/// |---|---|---|---|---|
/// | KEY_SHARE | | | | conflict |
/// | SHARE | | | conflict | conflict |
/// | NO_KEY_UPDATE | | conflict | conflict | conflict |
/// | UPDATE | conflict | conflict | conflict | conflict |
public enum LockStrength {
  /// The row stays, with its keys: what rows need that reference it.
  KEY_SHARE(0, "FOR KEY SHARE"),
  /// Nothing of the row changes.
  SHARE(1, "FOR SHARE"),
  /// Lock of an update that leaves all keys that can be referenced.
  NO_KEY_UPDATE(2, "FOR NO KEY UPDATE"),
  /// Lock of an update of such a key, and of a deletion.
  UPDATE(3, "FOR UPDATE");

  private static final LockStrength[] BY_NUMBER = values();

  private final int number;
  private final String clause;

  LockStrength(int number, String clause) {
    this.number = number;
    this.clause = clause;
  }

  /// Its number in the log: 0 to 3.
  public int number() {
    return number;
  }

  /// @return null: there is none with that number
  public static @Nullable LockStrength of(int number) {
    return number < 0 || number >= BY_NUMBER.length ? null : BY_NUMBER[number];
  }

  /// The clause of SELECT that asks for it.
  public String clause() {
    return clause;
  }

  /// Whether several transactions may hold a row so at a time.
  public boolean isShared() {
    return this == KEY_SHARE || this == SHARE;
  }

  /// Whether two transactions may not hold a row so at a time. Symmetric.
  public boolean conflictsWith(LockStrength other) {
    return number + other.number >= UPDATE.number;
  }
}
