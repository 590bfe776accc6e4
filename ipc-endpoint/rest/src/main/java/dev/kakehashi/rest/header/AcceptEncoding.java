package dev.kakehashi.rest.header;

import dev.kakehashi.rest.problem.Problem;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Chooses the coding of an answer by the field `Accept-Encoding` (RFC 9110, 12.5.3). Stateless.
public final class AcceptEncoding {
  /// No coding.
  public static final String IDENTITY = "identity";

  private AcceptEncoding() {}

  /// The coding that the client likes best; of equal ones the first offered.
  ///
  /// @param field null: it has not said, so it gets none
  /// @param offered codings in small letters, besides `identity`
  /// @throws Problem 400: the field is broken; 406: it takes none of them, and refuses `identity`
  public static String choose(@Nullable String field, List<String> offered) {
    if (field == null || field.isBlank()) {
      return IDENTITY;
    }
    String best = "";
    int bestQuality = 0;
    for (String coding : offered) {
      int quality = quality(field, coding, 0);
      if (quality > bestQuality) {
        best = coding;
        bestQuality = quality;
      }
    }
    // Nobody who says nothing of it refuses it, but what he has named goes first.
    int identity = quality(field, IDENTITY, 1);
    if (bestQuality > 0 && bestQuality >= identity) {
      return best;
    }
    if (identity == 0) {
      throw Problem.of(
          406,
          "not-acceptable",
          "Not acceptable",
          "the answer's coding is one of " + String.join(", ", offered));
    }
    return IDENTITY;
  }

  /// In thousandths.
  private static int quality(String field, String coding, int byDefault) {
    int quality = -1;
    int any = -1;
    for (String part : field.split(",", -1)) {
      int semicolon = part.indexOf(';');
      String name =
          (semicolon < 0 ? part : part.substring(0, semicolon)).strip().toLowerCase(Locale.ROOT);
      if (name.equals(coding)) {
        quality = weight(part, semicolon);
      } else if (name.equals("*")) {
        any = weight(part, semicolon);
      }
    }
    if (quality >= 0) {
      return quality;
    }
    // "*" stands for what is not named; of identity only its refusal means something.
    boolean counts = any >= 0 && (!coding.equals(IDENTITY) || any == 0);
    return counts ? any : byDefault;
  }

  private static int weight(String part, int semicolon) {
    if (semicolon < 0) {
      return 1000;
    }
    String weight = part.substring(semicolon + 1).strip();
    if (!weight.regionMatches(true, 0, "q=", 0, 2)) {
      throw Problem.badRequest("Accept-Encoding: \"" + weight + "\" is no weight");
    }
    return Quality.thousandths(weight.substring(2).strip());
  }
}
