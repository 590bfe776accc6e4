package dev.kakehashi.tools.shell;

import java.util.List;
import java.util.Locale;
import org.jline.reader.Candidate;
import org.jline.reader.Completer;
import org.jline.reader.LineReader;
import org.jline.reader.ParsedLine;

/// Completes keywords, names of the catalogue, and backslash commands.
final class SqlCompleter implements Completer {
  private static final int MOST = 200;

  private static final List<String> COMMANDS =
      List.of(
          "\\?",
          "\\app",
          "\\copy",
          "\\d",
          "\\df",
          "\\di",
          "\\dn",
          "\\dp",
          "\\ds",
          "\\dt",
          "\\du",
          "\\dv",
          "\\e",
          "\\echo",
          "\\g",
          "\\gdesc",
          "\\gexec",
          "\\gset",
          "\\gx",
          "\\h",
          "\\i",
          "\\jobs",
          "\\locks",
          "\\o",
          "\\p",
          "\\pset",
          "\\q",
          "\\queue",
          "\\r",
          "\\sessions",
          "\\set",
          "\\sv",
          "\\t",
          "\\terminate",
          "\\timing",
          "\\transactions",
          "\\unset",
          "\\w",
          "\\watch",
          "\\x");

  /// Names that there are.
  @FunctionalInterface
  interface Names {
    /// Names that begin with a text, at most so many. At once: somebody waits for his key.
    List<String> beginning(String text, int most);
  }

  private final Names names;

  SqlCompleter(Names names) {
    this.names = names;
  }

  @Override
  public void complete(LineReader reader, ParsedLine line, List<Candidate> candidates) {
    String word = line.word().substring(0, Math.min(line.wordCursor(), line.word().length()));
    if (word.startsWith("\\")) {
      COMMANDS.stream()
          .filter(each -> each.startsWith(word))
          .forEach(each -> candidates.add(new Candidate(each)));
      return;
    }
    int open = Math.max(word.lastIndexOf('('), word.lastIndexOf(','));
    String prefix = word.substring(0, open + 1);
    String part = word.substring(open + 1);
    if (part.isEmpty()) {
      return;
    }
    String upper = part.toUpperCase(Locale.ROOT);
    boolean lower = !part.equals(upper);
    for (String keyword : SqlKeywords.ALL) {
      if (keyword.startsWith(upper)) {
        candidates.add(
            new Candidate(prefix + (lower ? keyword.toLowerCase(Locale.ROOT) : keyword)));
      }
    }
    for (String name : names.beginning(part.toLowerCase(Locale.ROOT), MOST)) {
      candidates.add(new Candidate(prefix + name));
    }
  }
}
