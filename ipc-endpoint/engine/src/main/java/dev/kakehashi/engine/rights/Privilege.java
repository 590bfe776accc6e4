package dev.kakehashi.engine.rights;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Privilege that may be granted. A set of privileges is an int with the [#bit] of each.
public enum Privilege {
  INSERT(0),
  SELECT(1),
  UPDATE(2),
  DELETE(3),
  TRUNCATE(4),
  REFERENCES(5),
  TRIGGER(6),
  USAGE(7),
  CREATE(8),
  TEMPORARY(9),
  CONNECT(10),
  READ(11),
  WRITE(12),
  EXECUTE(13);

  private final int bit;

  /// @param number its place in a set, which is kept in the catalogue: never another one
  Privilege(int number) {
    this.bit = 1 << number;
  }

  /// Its place in a set.
  public int bit() {
    return bit;
  }

  /// The set of these.
  public static int set(Privilege... privileges) {
    int set = 0;
    for (Privilege each : privileges) {
      set |= each.bit();
    }
    return set;
  }

  /// The privileges of a set, in the order of their declaration.
  public static List<Privilege> of(int set) {
    List<Privilege> found = new ArrayList<>();
    for (Privilege each : values()) {
      if ((set & each.bit()) != 0) {
        found.add(each);
      }
    }
    return found;
  }

  /// The privilege that a word means, in any case; null: none.
  public static @Nullable Privilege named(String word) {
    String upper = word.toUpperCase(Locale.ROOT);
    if (upper.equals("TEMP")) {
      return TEMPORARY;
    }
    for (Privilege each : values()) {
      if (each.name().equals(upper)) {
        return each;
      }
    }
    return null;
  }
}
