package dev.kakehashi.valuetext.time;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// An abbreviation of a time zone that may stand in the text of a time, such as "EST".
///
/// @param seconds east of UTC
/// @param summer whether it says that it is summer time
record ZoneAbbreviation(int seconds, boolean summer) {
  /// PostgreSQL looks at this many characters.
  private static final int SIGNIFICANT_CHARACTERS = 10;

  /// Read when the first word in a time is looked up.
  private static final class Table {
    static final Map<String, ZoneAbbreviation> ALL = read();

    private static Map<String, ZoneAbbreviation> read() {
      Map<String, ZoneAbbreviation> all = new HashMap<>();
      try (InputStream file =
              Objects.requireNonNull(
                  ZoneAbbreviation.class.getResourceAsStream("zone-abbreviations.txt"));
          BufferedReader lines =
              new BufferedReader(new InputStreamReader(file, StandardCharsets.US_ASCII))) {
        for (String line : lines.lines().toList()) {
          if (!line.startsWith("#")) {
            List<String> parts = List.of(line.split(" ", -1));
            all.put(
                parts.get(0),
                new ZoneAbbreviation(Integer.parseInt(parts.get(1)), parts.size() > 2));
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return all;
    }
  }

  /// Abbreviation for a word in small letters; null: it is none.
  static @Nullable ZoneAbbreviation find(String word) {
    return Table.ALL.get(
        word.length() > SIGNIFICANT_CHARACTERS ? word.substring(0, SIGNIFICANT_CHARACTERS) : word);
  }
}
