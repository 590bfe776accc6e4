package dev.kakehashi.engine.type.text;

import com.google.re2j.Matcher;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.vector.Interrupts;
import java.util.LinkedHashMap;
import java.util.Map;

/// A compiled regular expression. Matching takes time linear in the text, and finds the leftmost longest match, as POSIX and PostgreSQL do.
///
/// @param pattern of RE2
/// @param groups parenthesized subexpressions
/// @param nonGreedy whether a quantifier prefers the shortest match, which can be tested for but not delimited as PostgreSQL does
record Regex(Pattern pattern, int groups, boolean nonGreedy) {
  /// As many as PostgreSQL keeps.
  private static final int MAX_CACHED = 32;

  /// Shorter ones are matched within a millisecond.
  private static final int LONG_TEXT = 1 << 12;

  /// Expressions used last by a thread, by flags and pattern. A plan calls with the same few for every row.
  private static final ThreadLocal<Map<String, Regex>> CACHE =
      ThreadLocal.withInitial(() ->
          new LinkedHashMap<>(2 * MAX_CACHED, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Regex> eldest) {
              return size() > MAX_CACHED;
            }
          });

  /// @param flags letters as PostgreSQL's, without `g`
  static Regex of(long patternText, String flags) {
    String source = Varlena.string(patternText);
    return CACHE.get().computeIfAbsent(flags + "/" + source, _ -> compile(source, flags));
  }

  private static Regex compile(String source, String flags) {
    RegexTranslator translator = new RegexTranslator(source, flags);
    String translated = translator.translate();
    try {
      Pattern pattern = Pattern.compile(translated, Pattern.LONGEST_MATCH);
      return new Regex(pattern, translator.groups(), translator.hasNonGreedy());
    } catch (PatternSyntaxException e) {
      throw RegexTranslator.invalid(e.getDescription());
    }
  }

  boolean matches(long text) {
    return pattern.matcher(watched(Varlena.string(text))).find();
  }

  /// A matcher for positions of matches.
  ///
  /// @throws dev.kakehashi.engine.api.EngineException FEATURE_NOT_SUPPORTED for non-greedy quantifiers
  Matcher matcher(String text) {
    if (nonGreedy) {
      throw SqlErrors.notSupported(
          "non-greedy quantifiers are supported in tests for a match only");
    }
    return pattern.matcher(watched(text));
  }

  /// The text as the matcher reads it: a long one lets it be canceled.
  private static CharSequence watched(String text) {
    return text.length() < LONG_TEXT ? text : new WatchedText(text);
  }

  private static final class WatchedText implements CharSequence {
    private static final int CHECK_MASK = (1 << 12) - 1;

    private final String text;
    private int reads;

    WatchedText(String text) {
      this.text = text;
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      if ((++reads & CHECK_MASK) == 0) {
        Interrupts.check();
      }
      return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return text.subSequence(start, end);
    }

    @Override
    public String toString() {
      return text;
    }
  }
}
