package dev.kakehashi.tools.shell;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Cuts input into statements and backslash commands, as psql does: a statement ends with a semicolon outside of quotes, comments and
/// parentheses. Variables are put in as they are met. Not thread-safe.
public final class SqlScanner {
  /// Takes what was found.
  public interface Sink {
    /// A statement that a semicolon has ended, without it.
    void statement(String sql);

    /// A backslash command.
    ///
    /// @param name without the backslash
    /// @param arguments the rest of the line; what the command does not take of it is scanned as SQL
    void command(String name, CommandArguments arguments);
  }

  /// State that the next line continues.
  public enum State {
    EMPTY('='),
    STATEMENT('-'),
    SINGLE_QUOTE('\''),
    DOUBLE_QUOTE('"'),
    DOLLAR_QUOTE('$'),
    COMMENT('*'),
    PARENTHESIS('(');

    /// As prompts show it.
    public final char mark;

    State(char mark) {
      this.mark = mark;
    }
  }

  private final Variables variables;
  private final StringBuilder buffer = new StringBuilder();
  private int parentheses;
  private int commentDepth;
  private char quote;
  private boolean escapes;
  private String dollarTag = "";

  public SqlScanner(Variables variables) {
    this.variables = variables;
  }

  /// The statement that was begun.
  public String buffer() {
    return buffer.toString();
  }

  /// Forgets the statement that was begun.
  public void reset() {
    buffer.setLength(0);
    parentheses = 0;
    commentDepth = 0;
    quote = 0;
    dollarTag = "";
  }

  /// Makes a text the statement that was begun.
  public void replace(String text) {
    reset();
    buffer.append(text);
  }

  public State state() {
    if (quote == '\'') {
      return State.SINGLE_QUOTE;
    }
    if (quote == '"') {
      return State.DOUBLE_QUOTE;
    }
    if (!dollarTag.isEmpty()) {
      return State.DOLLAR_QUOTE;
    }
    if (commentDepth > 0) {
      return State.COMMENT;
    }
    if (parentheses > 0) {
      return State.PARENTHESIS;
    }
    return buffer.toString().isBlank() ? State.EMPTY : State.STATEMENT;
  }

  private boolean isInside() {
    return quote != 0 || !dollarTag.isEmpty() || commentDepth > 0;
  }

  /// Takes a line, without its end.
  ///
  /// @param passive statements are not wanted: a branch of `\if` that is not taken
  public void line(String line, boolean passive, Sink sink) {
    if (!buffer.isEmpty()) {
      buffer.append('\n');
    }
    int at = 0;
    while (at < line.length()) {
      at = isInside() ? inside(line, at) : outside(line, at, passive, sink);
    }
    if (state() == State.EMPTY || (passive && !isInside())) {
      buffer.setLength(0);
    }
  }

  private int inside(String line, int at) {
    char c = line.charAt(at);
    if (commentDepth > 0) {
      if (line.startsWith("/*", at)) {
        commentDepth++;
        buffer.append("/*");
        return at + 2;
      }
      if (line.startsWith("*/", at)) {
        commentDepth--;
        buffer.append("*/");
        return at + 2;
      }
    } else if (!dollarTag.isEmpty()) {
      if (line.startsWith(dollarTag, at)) {
        buffer.append(dollarTag);
        int next = at + dollarTag.length();
        dollarTag = "";
        return next;
      }
    } else if (escapes && c == '\\' && at + 1 < line.length()) {
      buffer.append(c).append(line.charAt(at + 1));
      return at + 2;
    } else if (c == quote) {
      quote = 0; // a doubled one opens again at once
    }
    buffer.append(c);
    return at + 1;
  }

  private int outside(String line, int at, boolean passive, Sink sink) {
    char c = line.charAt(at);
    switch (c) {
      case '\'' -> {
        quote = '\'';
        escapes = isEscapeString();
      }
      case '"' -> {
        quote = '"';
        escapes = false;
      }
      case '(' -> parentheses++;
      case ')' -> parentheses = Math.max(0, parentheses - 1);
      case '$' -> {
        String tag = dollarTag(line, at);
        if (tag != null) {
          dollarTag = tag;
          buffer.append(tag);
          return at + tag.length();
        }
      }
      case '-' -> {
        if (line.startsWith("--", at)) {
          buffer.append(line, at, line.length());
          return line.length();
        }
      }
      case '/' -> {
        if (line.startsWith("/*", at)) {
          commentDepth = 1;
          buffer.append("/*");
          return at + 2;
        }
      }
      case ';' -> {
        if (parentheses == 0) {
          end(passive, sink);
          return at + 1;
        }
      }
      case '\\' -> {
        return command(line, at, sink);
      }
      case ':' -> {
        int next = variable(line, at);
        if (next > at) {
          return next;
        }
      }
      default -> {
        if (Character.isJavaIdentifierStart(c) && c != '$') {
          int end = at + 1;
          while (end < line.length() && Character.isJavaIdentifierPart(line.charAt(end))) {
            end++;
          }
          buffer.append(line, at, end);
          return end;
        }
      }
    }
    if (!buffer.isEmpty() || !Character.isWhitespace(c)) {
      buffer.append(c);
    }
    return at + 1;
  }

  private void end(boolean passive, Sink sink) {
    String sql = buffer.toString();
    reset();
    if (!passive && !isBlank(sql)) {
      sink.statement(sql);
    }
  }

  /// Whether a text has nothing but blanks and comments to the end of a line.
  public static boolean isBlank(String sql) {
    return sql.lines().allMatch(line -> line.isBlank() || line.strip().startsWith("--"));
  }

  private boolean isEscapeString() {
    int length = buffer.length();
    return length > 0
        && (buffer.charAt(length - 1) == 'e' || buffer.charAt(length - 1) == 'E')
        && (length == 1 || !Character.isJavaIdentifierPart(buffer.charAt(length - 2)));
  }

  private @Nullable String dollarTag(String line, int at) {
    if (!buffer.isEmpty() && Character.isJavaIdentifierPart(buffer.charAt(buffer.length() - 1))) {
      return null;
    }
    int end = at + 1;
    while (end < line.length()
        && (Character.isLetter(line.charAt(end))
            || line.charAt(end) == '_'
            || (end > at + 1 && Character.isDigit(line.charAt(end))))) {
      end++;
    }
    return end < line.length() && line.charAt(end) == '$' ? line.substring(at, end + 1) : null;
  }

  private int command(String line, int at, Sink sink) {
    if (line.startsWith("\\\\", at)) {
      return at + 2; // it ends a command
    }
    if (line.startsWith("\\;", at)) {
      buffer.append(';');
      return at + 2;
    }
    int end = at + 1;
    if (end < line.length() && "!?".indexOf(line.charAt(end)) >= 0) {
      end++;
    } else {
      while (end < line.length()
          && !Character.isWhitespace(line.charAt(end))
          && line.charAt(end) != '\\') {
        end++;
      }
    }
    String name = line.substring(at + 1, end);
    CommandArguments arguments = new CommandArguments(line, end, variables);
    sink.command(name, arguments);
    return arguments.end();
  }

  /// Puts the value of a variable in.
  ///
  /// @return where the text goes on; `at` if there is none
  private int variable(String line, int at) {
    if (line.startsWith("::", at)) {
      buffer.append("::");
      return at + 2;
    }
    Variables.Reference found = variables.reference(line, at);
    if (found == null) {
      return at;
    }
    buffer.append(found.text());
    return found.end();
  }

  /// The first words of a statement, in upper case, without comments.
  public static String[] words(String sql, int most) {
    String[] words = new String[most];
    int count = 0;
    int at = 0;
    while (count < most && at < sql.length()) {
      char c = sql.charAt(at);
      if (Character.isWhitespace(c) || c == '(') {
        at++;
      } else if (sql.startsWith("--", at)) {
        int end = sql.indexOf('\n', at);
        at = end < 0 ? sql.length() : end;
      } else if (sql.startsWith("/*", at)) {
        int end = sql.indexOf("*/", at + 2);
        at = end < 0 ? sql.length() : end + 2;
      } else if (Character.isLetter(c)) {
        int end = at;
        while (end < sql.length()
            && (Character.isLetterOrDigit(sql.charAt(end)) || sql.charAt(end) == '_')) {
          end++;
        }
        words[count++] = sql.substring(at, end).toUpperCase(Locale.ROOT);
        at = end;
      } else {
        break;
      }
    }
    java.util.Arrays.fill(words, count, most, "");
    return words;
  }
}
