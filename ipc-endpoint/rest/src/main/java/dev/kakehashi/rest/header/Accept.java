package dev.kakehashi.rest.header;

import dev.kakehashi.rest.problem.Problem;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Media types that the client takes: the field `Accept` (RFC 9110, 12.5.1). Immutable.
public final class Accept {
  private static final Accept ANY = new Accept(List.of(new Range("*", "*", Map.of(), 1000)));
  private static final int MAX_RANGES = 64;

  private final List<Range> ranges;

  private Accept(List<Range> ranges) {
    this.ranges = ranges;
  }

  /// @param thousandths of the quality
  private record Range(
      String type, String subtype, Map<String, String> parameters, int thousandths) {
    /// How exactly it names an offered type; -1: not at all.
    int exactness(String offered) {
      int slash = offered.indexOf('/');
      if (type.equals("*")) {
        return 0;
      }
      if (!offered.regionMatches(0, type, 0, slash) || type.length() != slash) {
        return -1;
      }
      if (subtype.equals("*")) {
        return 1;
      }
      return offered.length() - slash - 1 == subtype.length() && offered.endsWith(subtype) ? 2 : -1;
    }
  }

  /// Choice of a media type.
  ///
  /// @param mediaType of those offered
  /// @param parameters that the client gave with it, names in small letters, as `numbers` of `application/json;numbers=json`
  public record Choice(String mediaType, Map<String, String> parameters) {}

  /// @param field null: anything
  /// @throws Problem 400: it is none
  public static Accept parse(@Nullable String field) {
    if (field == null || field.isBlank() || field.equals("*/*")) {
      return ANY;
    }
    List<Range> ranges = new ArrayList<>();
    for (String range : field.split(",", -1)) {
      if (!range.isBlank()) {
        ranges.add(range(range));
      }
      if (ranges.size() > MAX_RANGES) {
        throw Problem.badRequest("Accept has more than " + MAX_RANGES + " media types");
      }
    }
    return ranges.isEmpty() ? ANY : new Accept(ranges);
  }

  private static Range range(String text) {
    String[] parts = text.split(";", -1);
    String name = parts[0].strip().toLowerCase(Locale.ROOT);
    int slash = name.indexOf('/');
    boolean isRange = slash > 0 && slash < name.length() - 1;
    if (!isRange || (name.startsWith("*/") && !name.equals("*/*"))) {
      throw Problem.badRequest("Accept: \"" + name + "\" is no media type");
    }
    int thousandths = 1000;
    Map<String, String> parameters = new HashMap<>();
    for (int i = 1; i < parts.length; i++) {
      int equals = parts[i].indexOf('=');
      if (equals < 0) {
        throw Problem.badRequest("Accept: a parameter of " + name + " has no value");
      }
      String key = parts[i].substring(0, equals).strip().toLowerCase(Locale.ROOT);
      String value = parts[i].substring(equals + 1).strip();
      if (key.equals("q")) {
        thousandths = Quality.thousandths(value);
      } else {
        parameters.put(key, unquoted(value));
      }
    }
    return new Range(
        name.substring(0, slash), name.substring(slash + 1), Map.copyOf(parameters), thousandths);
  }

  private static String unquoted(String value) {
    boolean isQuoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
    return isQuoted ? value.substring(1, value.length() - 1) : value;
  }

  /// The type that the client likes best; of equal ones the first offered.
  ///
  /// @param offered in small letters, without parameters
  /// @throws Problem 406: it takes none of them
  public Choice choose(List<String> offered) {
    @Nullable Choice best = null;
    int bestQuality = 0;
    for (String type : offered) {
      Range range = mostExact(type);
      if (range != null && range.thousandths() > bestQuality) {
        best = new Choice(type, range.parameters());
        bestQuality = range.thousandths();
      }
    }
    if (best == null) {
      throw Problem.of(
          406,
          "not-acceptable",
          "Not acceptable",
          "the answer is one of " + String.join(", ", offered));
    }
    return best;
  }

  private @Nullable Range mostExact(String offered) {
    @Nullable Range found = null;
    int exactness = -1;
    for (Range range : ranges) {
      int other = range.exactness(offered);
      if (other > exactness) {
        found = range;
        exactness = other;
      }
    }
    return found;
  }
}
