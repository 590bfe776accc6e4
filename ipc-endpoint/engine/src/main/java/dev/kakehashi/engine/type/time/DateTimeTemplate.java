package dev.kakehashi.engine.type.time;

import dev.kakehashi.engine.type.text.TemplateCache;
import dev.kakehashi.engine.type.text.TemplateReader;
import dev.kakehashi.valuetext.Spaces;
import java.util.ArrayList;
import java.util.List;

/// A template of to_char(), to_date() and to_timestamp(), cut into patterns and texts as PostgreSQL does. Immutable.
///
/// @param nodes in their order
record DateTimeTemplate(List<Node> nodes) {
  /// A pattern, or text between patterns.
  ///
  /// @param text the pattern as written, or the text
  /// @param pattern whether it is a pattern
  /// @param fill false after FM: no blanks and zeros in front
  /// @param translated after TM
  /// @param ordinal the case of the suffix TH: 'T', 't', or 0 without
  /// @param quoted text within quotes
  record Node(
      String text,
      boolean pattern,
      boolean fill,
      boolean translated,
      char ordinal,
      boolean quoted) {
    /// Whether it is a text that stands for any separator where texts are read.
    boolean separates() {
      return !pattern && !quoted && isSeparator(text.charAt(0));
    }
  }

  /// A blank, or what is neither a letter nor a digit.
  static boolean isSeparator(char c) {
    boolean alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return Spaces.isSpace(c) || (c > 0x20 && c < 0x7F && !alphanumeric);
  }

  /// Patterns; the longer ones of those that begin alike come first.
  private static final List<String> PATTERNS =
      List.of(
          """
          A.D. A.M. AD AM B.C. BC CC DAY DDD DD DY Day Dy D FF1 FF2 FF3 FF4 FF5 FF6 FX HH24 HH12 HH IDDD ID IW
          IYYY IYY IY I J MI MM MONTH MON MS Month Mon OF P.M. PM Q RM SSSSS SSSS SS TZH TZM TZ US WW W Y,YYY
          YYYY YYY YY Y
          a.d. a.m. ad am b.c. bc cc day ddd dd dy d ff1 ff2 ff3 ff4 ff5 ff6 fx hh24 hh12 hh iddd id iw iyyy
          iyy iy i j mi mm month mon ms of p.m. pm q rm sssss ssss ss tzh tzm tz us ww w y,yyy yyyy yyy yy y\
          """
              .split("\\s+"));

  private static final List<String> PREFIXES = List.of("FM", "fm", "TM", "tm");
  private static final List<String> SUFFIXES = List.of("TH", "th", "SP");

  private static final TemplateCache<DateTimeTemplate> CACHE =
      new TemplateCache<>(DateTimeTemplate::parse);

  static DateTimeTemplate of(String text) {
    return CACHE.of(text);
  }

  private static DateTimeTemplate parse(String text) {
    TemplateReader in = new TemplateReader(text);
    List<Node> nodes = new ArrayList<>();
    while (!in.atEnd()) {
      String prefix = in.accept(PREFIXES);
      String pattern = in.accept(PATTERNS);
      if (pattern != null) {
        String suffix = in.accept(SUFFIXES);
        char ordinal = suffix == null || suffix.equals("SP") ? 0 : suffix.charAt(0);
        boolean fill = prefix == null || !prefix.equalsIgnoreCase("fm");
        boolean translated = prefix != null && prefix.equalsIgnoreCase("tm");
        nodes.add(new Node(pattern, true, fill, translated, ordinal, false));
      } else if (!in.atEnd()) {
        boolean quoted = in.atQuote();
        in.text(c -> nodes.add(new Node(c, false, true, false, (char) 0, quoted)));
      }
    }
    return new DateTimeTemplate(List.copyOf(nodes));
  }
}
