package dev.kakehashi.protocol.authentication;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/// Preparation of a password before it is hashed (SASLprep, RFC 4013), so that the password is the same however a keyboard writes its
/// letters.
///
/// As PostgreSQL does it, because verifiers can be carried over and the extension prepares by PostgreSQL's own function: what is ASCII
/// alone stays as it is, and so does what SASLprep prohibits. Thread-safe.
final class SaslPrep {
  private static final String TABLES = "saslprep.txt";

  private SaslPrep() {}

  /// Read when the first password beyond ASCII comes.
  private static final class Tables {
    static final Map<String, Table> ALL = read();

    static boolean has(String table, int codePoint) {
      return Objects.requireNonNull(ALL.get(table)).has(codePoint);
    }

    private static Map<String, Table> read() {
      Map<String, List<int[]>> ranges = new HashMap<>();
      try (InputStream resource =
              Objects.requireNonNull(SaslPrep.class.getResourceAsStream(TABLES), TABLES);
          BufferedReader lines =
              new BufferedReader(new InputStreamReader(resource, StandardCharsets.US_ASCII))) {
        List<int[]> current = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          if (line.startsWith("table ")) {
            current = new ArrayList<>();
            ranges.put(line.substring("table ".length()), current);
          } else if (!line.startsWith("#")) {
            for (String range : line.split(" ", -1)) {
              String[] ends = range.split("-", -1);
              current.add(
                  new int[] {
                    Integer.parseInt(ends[0], 16), Integer.parseInt(ends[ends.length - 1], 16)
                  });
            }
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Map<String, Table> tables = new HashMap<>();
      ranges.forEach((name, all) -> tables.put(name, Table.of(all)));
      return tables;
    }
  }

  /// Ranges of code points in ascending order, both ends included.
  private record Table(int[] from, int[] to) {
    static Table of(List<int[]> ranges) {
      return new Table(
          ranges.stream().mapToInt(range -> range[0]).toArray(),
          ranges.stream().mapToInt(range -> range[1]).toArray());
    }

    boolean has(int codePoint) {
      int at = java.util.Arrays.binarySearch(from, codePoint);
      int range = at >= 0 ? at : -at - 2;
      return range >= 0 && codePoint <= to[range];
    }
  }

  /// The password as it is hashed, in UTF-8.
  static byte[] prepare(char[] password) {
    String text = new String(password);
    String prepared = text.chars().allMatch(c -> c < 0x80) ? text : prepared(text);
    return prepared.getBytes(StandardCharsets.UTF_8);
  }

  private static String prepared(String text) {
    int[] mapped =
        text.codePoints()
            .map(c -> Tables.has("space", c) ? ' ' : c)
            .filter(c -> !Tables.has("nothing", c))
            .toArray();
    boolean allowed =
        mapped.length > 0
            && java.util.Arrays.stream(mapped)
                .noneMatch(c -> Tables.has("prohibited", c) || Tables.has("unassigned", c))
            && hasOneDirection(mapped);
    return allowed
        ? Normalizer.normalize(new String(mapped, 0, mapped.length), Normalizer.Form.NFKC)
        : text;
  }

  /// Either nothing is written from right to left, or the ends are and nothing is written from left to right (RFC 3454, 6).
  private static boolean hasOneDirection(int[] text) {
    if (java.util.Arrays.stream(text).noneMatch(c -> Tables.has("right-to-left", c))) {
      return true;
    }
    return Tables.has("right-to-left", text[0])
        && Tables.has("right-to-left", text[text.length - 1])
        && java.util.Arrays.stream(text).noneMatch(c -> Tables.has("left-to-right", c));
  }
}
