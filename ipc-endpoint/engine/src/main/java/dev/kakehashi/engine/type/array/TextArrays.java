package dev.kakehashi.engine.type.array;

import static dev.kakehashi.protocol.TypeOid.TEXT;

import com.google.re2j.Matcher;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.text.Regex;
import dev.kakehashi.engine.type.text.RegexFunctions;
import dev.kakehashi.engine.vector.Interrupts;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Functions that make arrays, or rows, of the parts of a text.
public final class TextArrays {
  private static final int TEXT_ARRAY = TypeOid.arrayOf(TEXT);

  /// Parts between two looks for a cancel, less one.
  private static final int CHECK_MASK = (1 << 10) - 1;

  private TextArrays() {}

  public static void register(FunctionSet set) {
    for (int count = 2; count <= 3; count++) {
      int[] arguments = new int[count];
      Arrays.fill(arguments, TEXT);
      set.add(
          new ScalarFunction(
              "string_to_array", arguments, TEXT_ARRAY, false, true, TextArrays::stringToArray));
      set.add("regexp_match", TEXT_ARRAY, TextArrays::match, arguments);
      set.add(
          "regexp_split_to_array",
          TEXT_ARRAY,
          (a, _, c) -> ArrayTypes.word(ArrayValue.of(split(a, "regexp_split_to_array")), c),
          arguments);
    }
  }

  private static long stringToArray(long[] a, long nulls, FunctionContext context) {
    if ((nulls & 1) != 0) {
      return context.nullResult();
    }
    return ArrayTypes.word(
        ArrayValue.of(
            parts(
                Varlena.string(a[0]),
                (nulls & 2) != 0 ? null : Varlena.string(a[1]),
                a.length < 3 || (nulls & 4) != 0 ? null : Varlena.string(a[2]))),
        context);
  }

  /// The parts between delimiters.
  ///
  /// @param delimiter null: every character is a part
  /// @param nullText a part like this is null
  public static List<@Nullable String> parts(
      String text, @Nullable String delimiter, @Nullable String nullText) {
    List<@Nullable String> parts = new ArrayList<>();
    if (text.isEmpty()) {
      return parts;
    }
    if (delimiter == null) {
      text.codePoints().forEach(c -> parts.add(Character.toString(c)));
    } else if (delimiter.isEmpty()) {
      parts.add(text);
    } else {
      int from = 0;
      for (int at = text.indexOf(delimiter); at >= 0; at = text.indexOf(delimiter, from)) {
        parts.add(text.substring(from, at));
        if ((parts.size() & CHECK_MASK) == 0) {
          Interrupts.check();
        }
        from = at + delimiter.length();
      }
      parts.add(text.substring(from));
    }
    if (nullText != null) {
      parts.replaceAll(part -> nullText.equals(part) ? null : part);
    }
    return parts;
  }

  private static long match(long[] a, long nulls, FunctionContext context) {
    Regex regex = Regex.of(a[1], RegexFunctions.flags(a, 2, "regexp_match"));
    Matcher matcher = regex.matcher(Varlena.string(a[0]));
    if (!matcher.find()) {
      return context.nullResult();
    }
    return ArrayTypes.word(groups(matcher, regex), context);
  }

  private static ArrayValue groups(Matcher matcher, Regex regex) {
    List<@Nullable String> groups = new ArrayList<>();
    for (int i = regex.groups() > 0 ? 1 : 0; i <= regex.groups(); i++) {
      groups.add(matcher.group(i));
    }
    return ArrayValue.of(groups);
  }

  /// The subexpressions of the matches: of the first one, or of all with the flag `g`.
  ///
  /// @param a text, pattern and, if given, flags
  public static List<ArrayValue> matches(long[] a) {
    String flags = a.length > 2 ? Varlena.string(a[2]) : "";
    Regex regex = Regex.of(a[1], flags.replace("g", ""));
    String text = Varlena.string(a[0]);
    Matcher matcher = regex.matcher(text);
    List<ArrayValue> matches = new ArrayList<>();
    boolean more = matcher.find();
    while (more) {
      matches.add(groups(matcher, regex));
      more = flags.indexOf('g') >= 0 && RegexFunctions.findNext(matcher, text);
    }
    return matches;
  }

  /// The parts between matches. Empty matches at the ends and behind another match do not count.
  ///
  /// @param a text, pattern and, if given, flags
  public static List<@Nullable String> split(long[] a, String function) {
    String text = Varlena.string(a[0]);
    Matcher matcher = Regex.of(a[1], RegexFunctions.flags(a, 2, function)).matcher(text);
    List<@Nullable String> parts = new ArrayList<>();
    int from = 0;
    int previousEnd = 0;
    boolean more = matcher.find();
    while (more) {
      if (matcher.start() < text.length() && matcher.end() > previousEnd) {
        parts.add(text.substring(from, matcher.start()));
        from = matcher.end();
      }
      previousEnd = matcher.end();
      more = RegexFunctions.findNext(matcher, text);
    }
    parts.add(text.substring(from));
    return parts;
  }
}
