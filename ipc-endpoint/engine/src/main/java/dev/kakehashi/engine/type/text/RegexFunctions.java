package dev.kakehashi.engine.type.text;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.BPCHAR;
import static dev.kakehashi.protocol.TypeOid.INT4;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import com.google.re2j.Matcher;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.ScalarFunction.Body;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import java.util.Arrays;

/// Operators and functions of regular expressions.
public final class RegexFunctions {
  private RegexFunctions() {}

  static void register(FunctionSet set) {
    for (int oid : new int[] {TEXT, BPCHAR}) {
      set.add("~", BOOL, matches("", true), oid, TEXT);
      set.add("!~", BOOL, matches("", false), oid, TEXT);
      set.add("~*", BOOL, matches("i", true), oid, TEXT);
      set.add("!~*", BOOL, matches("i", false), oid, TEXT);
    }
    set.add("regexp_like", BOOL, matches("", true), TEXT, TEXT);
    set.add(
        "regexp_like",
        BOOL,
        (a, _, _) -> Regex.of(a[1], flags(a, 2, "regexp_like")).matches(a[0]) ? 1 : 0,
        TEXT,
        TEXT,
        TEXT);
    set.add("substring", TEXT, RegexFunctions::substring, TEXT, TEXT);
    int[] count = {TEXT, TEXT, INT4, TEXT};
    prefixes(set, "regexp_count", INT4, RegexFunctions::count, count, 2);
    int[] instr = {TEXT, TEXT, INT4, INT4, INT4, TEXT, INT4};
    prefixes(set, "regexp_instr", INT4, RegexFunctions::instr, instr, 2);
    int[] substr = {TEXT, TEXT, INT4, INT4, TEXT, INT4};
    prefixes(set, "regexp_substr", TEXT, RegexFunctions::substr, substr, 2);
    int[] replace = {TEXT, TEXT, TEXT, INT4, INT4, TEXT};
    prefixes(set, "regexp_replace", TEXT, RegexFunctions::replaceFrom, replace, 3);
    set.add("regexp_replace", TEXT, RegexFunctions::replaceFlags, TEXT, TEXT, TEXT, TEXT);
  }

  /// A function whose last arguments may be left out.
  private static void prefixes(
      FunctionSet set, String name, int result, Body body, int[] arguments, int least) {
    for (int count = least; count <= arguments.length; count++) {
      set.add(name, result, body, Arrays.copyOf(arguments, count));
    }
  }

  private static Body matches(String flags, boolean expected) {
    return (a, _, _) -> Regex.of(a[1], flags).matches(a[0]) == expected ? 1 : 0;
  }

  /// The flags of an argument that may have been left out, without the one for all matches.
  public static String flags(long[] a, int index, String function) {
    String flags = index < a.length ? Varlena.string(a[index]) : "";
    if (flags.indexOf('g') >= 0) {
      throw SqlErrors.invalidParameter(function + "() does not support the \"global\" option");
    }
    return flags;
  }

  private static long positive(long[] a, int index, String name) {
    long value = index < a.length ? a[index] : 1;
    if (value <= 0) {
      throw SqlErrors.invalidParameter("invalid value for parameter \"" + name + "\": " + value);
    }
    return value;
  }

  private static long notNegative(long[] a, int index, String name) {
    long value = index < a.length ? a[index] : 0;
    if (value < 0) {
      throw SqlErrors.invalidParameter("invalid value for parameter \"" + name + "\": " + value);
    }
    return value;
  }

  /// Index in UTF-16 units of the character at a position from 1; -1: behind the end.
  private static int index(String text, long position) {
    int characters = text.codePointCount(0, text.length());
    return position > characters + 1L ? -1 : text.offsetByCodePoints(0, (int) position - 1);
  }

  /// Goes to the n-th match at or after an index.
  private static boolean find(Matcher matcher, String text, int from, long n) {
    if (from < 0 || !matcher.find(from)) {
      return false;
    }
    for (long i = 1; i < n; i++) {
      if (!findNext(matcher, text)) {
        return false;
      }
    }
    return true;
  }

  /// Goes to the next match; behind an empty one it begins a character further on, which may have two UTF-16 units.
  public static boolean findNext(Matcher matcher, String text) {
    int from = matcher.end();
    if (matcher.start() == from) {
      if (from >= text.length()) {
        return false;
      }
      from = text.offsetByCodePoints(from, 1);
    }
    return matcher.find(from);
  }

  /// substring(text from pattern): the first subexpression if there is one, else the match.
  private static long substring(long[] a, long nulls, FunctionContext context) {
    Regex regex = Regex.of(a[1], "");
    String text = Varlena.string(a[0]);
    Matcher matcher = regex.matcher(text);
    return matcher.find()
        ? group(matcher, regex.groups() > 0 ? 1 : 0, context)
        : context.nullResult();
  }

  private static long group(Matcher matcher, int group, FunctionContext context) {
    String value = matcher.group(group);
    return value == null ? context.nullResult() : Varlena.of(context.heap, value);
  }

  private static long count(long[] a, long nulls, FunctionContext context) {
    long start = positive(a, 2, "start");
    Regex regex = Regex.of(a[1], flags(a, 3, "regexp_count"));
    String text = Varlena.string(a[0]);
    Matcher matcher = regex.matcher(text);
    int from = index(text, start);
    long count = 0;
    if (from >= 0 && matcher.find(from)) {
      do {
        count++;
      } while (findNext(matcher, text));
    }
    return count;
  }

  private static long instr(long[] a, long nulls, FunctionContext context) {
    long start = positive(a, 2, "start");
    long n = positive(a, 3, "n");
    long end = a.length > 4 ? a[4] : 0;
    if (end != 0 && end != 1) {
      throw SqlErrors.invalidParameter("invalid value for parameter \"endoption\": " + end);
    }
    long subexpression = notNegative(a, 6, "subexpr");
    Regex regex = Regex.of(a[1], flags(a, 5, "regexp_instr"));
    int group = groupOf(regex, subexpression);
    String text = Varlena.string(a[0]);
    Matcher matcher = regex.matcher(text);
    if (group < 0 || !find(matcher, text, index(text, start), n)) {
      return 0;
    }
    int at = end == 0 ? matcher.start(group) : matcher.end(group);
    return at < 0 ? 0 : text.codePointCount(0, at) + 1L;
  }

  private static long substr(long[] a, long nulls, FunctionContext context) {
    long start = positive(a, 2, "start");
    long n = positive(a, 3, "n");
    long subexpression = notNegative(a, 5, "subexpr");
    Regex regex = Regex.of(a[1], flags(a, 4, "regexp_substr"));
    int group = groupOf(regex, subexpression);
    String text = Varlena.string(a[0]);
    Matcher matcher = regex.matcher(text);
    if (group < 0 || !find(matcher, text, index(text, start), n)) {
      return context.nullResult();
    }
    return group(matcher, group, context);
  }

  /// The matcher's group of a subexpression; -1: there is none. Where there are no subexpressions, the match is the first.
  private static int groupOf(Regex regex, long subexpression) {
    if (regex.groups() == 0 && subexpression == 1) {
      return 0;
    }
    return subexpression > regex.groups() ? -1 : (int) subexpression;
  }

  /// The form with flags: the first match, or all with `g`.
  private static long replaceFlags(long[] a, long nulls, FunctionContext context) {
    String flags = Varlena.string(a[3]);
    // A digit there is a start position that was meant for the other form.
    if (!flags.isEmpty() && flags.charAt(0) >= '0' && flags.charAt(0) <= '9') {
      throw SqlErrors.invalidParameter(
              "invalid regular expression option: \"" + flags.charAt(0) + "\"")
          .withHint(
              "If you meant to use regexp_replace() with a start parameter, cast the fourth"
                  + " argument to integer explicitly.");
    }
    boolean all = flags.indexOf('g') >= 0;
    return replace(a, flags.replace("g", ""), 1, all ? 0 : 1, context);
  }

  /// The form with a start position and the number of the match, 0: all.
  private static long replaceFrom(long[] a, long nulls, FunctionContext context) {
    long start = positive(a, 3, "start");
    String flags = a.length > 5 ? Varlena.string(a[5]) : "";
    long n = a.length > 4 ? notNegative(a, 4, "n") : flags.indexOf('g') >= 0 ? 0 : 1;
    return replace(a, flags.replace("g", ""), start, n, context);
  }

  private static long replace(long[] a, String flags, long start, long n, FunctionContext context) {
    Regex regex = Regex.of(a[1], flags);
    String text = Varlena.string(a[0]);
    String with = Varlena.string(a[2]);
    Matcher matcher = regex.matcher(text);
    int from = index(text, start);
    StringBuilder out = new StringBuilder(text.length());
    int copied = 0;
    long found = 0;
    boolean more = from >= 0 && matcher.find(from);
    while (more) {
      found++;
      if (n == 0 || found == n) {
        out.append(text, copied, matcher.start());
        substitute(out, with, matcher, regex.groups());
        copied = matcher.end();
        if (n != 0) {
          break;
        }
      }
      more = findNext(matcher, text);
    }
    return Varlena.of(context.heap, out.append(text, copied, text.length()).toString());
  }

  /// `\1` to `\9` are subexpressions, `\&` is the match, `\\` a backslash; other backslashes stand for themselves.
  private static void substitute(StringBuilder out, String with, Matcher matcher, int groups) {
    for (int i = 0; i < with.length(); i++) {
      char c = with.charAt(i);
      char next = i + 1 < with.length() ? with.charAt(i + 1) : 0;
      if (c != '\\' || next == 0) {
        out.append(c);
      } else if (next >= '1' && next <= '9') {
        int group = next - '0';
        if (group <= groups && matcher.group(group) != null) {
          out.append(matcher.group(group));
        }
        i++;
      } else if (next == '&') {
        out.append(matcher.group());
        i++;
      } else {
        out.append(c);
        i += next == '\\' ? 1 : 0;
      }
    }
  }
}
