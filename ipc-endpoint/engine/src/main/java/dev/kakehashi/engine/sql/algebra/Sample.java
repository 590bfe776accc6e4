package dev.kakehashi.engine.sql.algebra;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A random part of a table's rows.
///
/// @param fraction of the rows, 0 to 1
/// @param seed that makes it repeatable, or null
public record Sample(double fraction, @Nullable Long seed) {
  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%s%%", fraction * 100);
  }
}
