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
/// @param states of the automaton, at least; each character is looked at by each of them at most
/// @param nonGreedy whether a quantifier prefers the shortest match, which can be tested for but not delimited as PostgreSQL does
public record Regex(Pattern pattern, int groups, int states, boolean nonGreedy) {
  /// As many as PostgreSQL keeps.
  private static final int MAX_CACHED = 32;

  /// Steps of the automaton that take less than a millisecond.
  private static final int SHORT_STEPS = 1 << 16;

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
  public static Regex of(long patternText, String flags) {
    String source = Varlena.string(patternText);
    return CACHE.get().computeIfAbsent(flags + "/" + source, _ -> compile(source, flags));
  }

  private static Regex compile(String source, String flags) {
    RegexTranslator translator = new RegexTranslator(source, flags);
    String translated = translator.translate();
    try {
      Pattern pattern = Pattern.compile(translated, Pattern.LONGEST_MATCH);
      return new Regex(
          pattern, translator.groups(), translator.states(), translator.hasNonGreedy());
    } catch (PatternSyntaxException e) {
      throw RegexTranslator.invalid(e.getDescription());
    }
  }

  boolean matches(long text) {
    return pattern.matcher(watched(Varlena.string(text))).find();
  }

  /// A matcher for positions of matches.
  ///
  /// @throws dev.kakehashi.engine.api.error.EngineException FEATURE_NOT_SUPPORTED for non-greedy quantifiers
  public Matcher matcher(String text) {
    if (nonGreedy) {
      throw SqlErrors.notSupported(
          "non-greedy quantifiers are supported in tests for a match only");
    }
    return pattern.matcher(watched(text));
  }

  /// The text as the matcher reads it: where that takes long it can be canceled.
  private CharSequence watched(String text) {
    int shortReads = SHORT_STEPS / Math.max(states, 16);
    return text.length() < shortReads ? text : new WatchedText(text, Math.max(shortReads, 1));
  }

  private static final class WatchedText implements CharSequence {
    private final String text;
    private final int shortReads;
    private int reads;

    /// @param shortReads after which is asked whether the statement is to end
    WatchedText(String text, int shortReads) {
      this.text = text;
      this.shortReads = shortReads;
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      if (++reads >= shortReads) {
        reads = 0;
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
