package dev.kakehashi.protocol.authentication;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SaslPrepTest {
  private static String prepared(String password) {
    return new String(SaslPrep.prepare(password.toCharArray()), StandardCharsets.UTF_8);
  }

  /// The examples of RFC 4013, 3, as far as they are allowed, and others of its rules.
  @ParameterizedTest
  @CsvSource({
    "I\u00ADX, IX", // soft hyphen
    "user, user",
    "USER, USER",
    "\u00AA, a",
    "\u2168, IX", // roman nine
    "a\u00A0b, a b", // no-break space
    "a\u200Bb, a b", // zero width space is a space of C.1.2, too
    "\u2460\u2075, 15", // circled one, superscript five
    "pa\u0308ss, p\u00E4ss", // a letter and its dots
    "\u05D0\u05D1, \u05D0\u05D1" // from right to left
  })
  void shouldMapAndNormalize(String password, String expected) {
    assertEquals(expected, prepared(password));
  }

  /// Text that is not allowed stays as it is, as with PostgreSQL.
  @ParameterizedTest
  @CsvSource({
    "a\u0007b", // a bell: ASCII is not looked at
    "\u2168\u0007x", // with others it is prohibited
    "\u06271", // RFC 4013: does not end as it begins
    "\u0627\u2168\u0627", // letters of both directions, as IX is one
    "\u00AD", // nothing is left
    "\u2168\uE000", // private use
    "\u2168\uFFFD", // prohibited
    "\u2168\uD83D\uDE00", // an emoji is unassigned in Unicode 3.2
    "\u2168\u0221" // so was this
  })
  void shouldKeepWhatIsProhibited(String password) {
    assertEquals(password, prepared(password));
  }
}
