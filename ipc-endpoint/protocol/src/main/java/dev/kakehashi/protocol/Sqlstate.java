package dev.kakehashi.protocol;

/// SQLSTATEs as PostgreSQL's MAKE_SQLSTATE packs them: five characters, six bits each, the first in the lowest bits.
public final class Sqlstate {
  /// @throws IllegalArgumentException unless `sqlstate` has five characters of `0-9A-Z`
  public static int pack(String sqlstate) {
    if (sqlstate.length() != 5) {
      throw new IllegalArgumentException(
          "SQLSTATE \"" + sqlstate + "\" does not have five characters");
    }
    int packed = 0;
    for (int i = 0; i < 5; i++) {
      char c = sqlstate.charAt(i);
      if ((c < '0' || c > '9') && (c < 'A' || c > 'Z')) {
        throw new IllegalArgumentException(
            "SQLSTATE \"" + sqlstate + "\" has a character outside 0-9A-Z");
      }
      packed |= ((c - '0') & 0x3F) << (6 * i);
    }
    return packed;
  }

  /// The five characters of a packed SQLSTATE; what a peer packed wrongly shows as odd characters, never as an error.
  public static String unpack(int packed) {
    char[] text = new char[5];
    for (int i = 0; i < 5; i++) {
      text[i] = (char) ('0' + ((packed >>> (6 * i)) & 0x3F));
    }
    return new String(text);
  }

  private Sqlstate() {}
}
