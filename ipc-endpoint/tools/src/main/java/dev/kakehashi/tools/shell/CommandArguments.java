package dev.kakehashi.tools.shell;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rest of the line behind a backslash command: words with quotes as in SQL, variables, and output of commands in backquotes. Not
/// thread-safe.
public final class CommandArguments {
  private final String line;
  private final Variables variables;
  private int at;

  /// @param from where they begin in the line
  public CommandArguments(String line, int from, Variables variables) {
    this.line = line;
    this.at = from;
    this.variables = variables;
  }

  /// Where the line goes on with SQL or another command.
  int end() {
    while (at < line.length() && Character.isWhitespace(line.charAt(at))) {
      at++;
    }
    return at;
  }

  /// Whether the next word begins so.
  public boolean startsWith(char c) {
    int from = end();
    return from < line.length() && line.charAt(from) == c;
  }

  /// The next word; null: there is none.
  public @Nullable String next() {
    end();
    if (at >= line.length() || line.charAt(at) == '\\') {
      return null;
    }
    StringBuilder word = new StringBuilder();
    while (at < line.length()) {
      char c = line.charAt(at);
      if (Character.isWhitespace(c) || c == '\\') {
        break;
      }
      switch (c) {
        case '\'' -> quoted(word);
        case '"' -> {
          word.append('"');
          int close = line.indexOf('"', at + 1);
          int end = close < 0 ? line.length() : close;
          word.append(line, at + 1, end).append('"');
          at = Math.min(line.length(), end + 1);
        }
        case '`' -> {
          int close = line.indexOf('`', at + 1);
          int end = close < 0 ? line.length() : close;
          word.append(output(line.substring(at + 1, end)));
          at = Math.min(line.length(), end + 1);
        }
        case ':' -> {
          Variables.Reference found = variables.reference(line, at);
          if (found == null) {
            word.append(c);
            at++;
          } else {
            word.append(found.text());
            at = found.end();
          }
        }
        default -> {
          word.append(c);
          at++;
        }
      }
    }
    return word.toString();
  }

  private void quoted(StringBuilder word) {
    at++;
    while (at < line.length()) {
      char c = line.charAt(at++);
      if (c == '\'') {
        if (at < line.length() && line.charAt(at) == '\'') {
          at++;
        } else {
          return;
        }
      } else if (c == '\\' && at < line.length()) {
        c = escaped(line.charAt(at++));
      }
      word.append(c);
    }
  }

  private static char escaped(char c) {
    return switch (c) {
      case 'n' -> '\n';
      case 't' -> '\t';
      case 'r' -> '\r';
      case 'b' -> '\b';
      case 'f' -> '\f';
      default -> c;
    };
  }

  private static String output(String command) {
    try {
      Process process =
          new ProcessBuilder("/bin/sh", "-c", command)
              .redirectInput(ProcessBuilder.Redirect.INHERIT)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      process.waitFor();
      return text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
    } catch (IOException failed) {
      throw new ShellException(command + ": " + failed.getMessage());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new ShellException(command + ": interrupted");
    }
  }

  /// All words that are left.
  public List<String> all() {
    List<String> words = new ArrayList<>();
    for (String word = next(); word != null; word = next()) {
      words.add(word);
    }
    return words;
  }

  /// The rest of the line as it is, with variables put in.
  public String rest() {
    String text = line.substring(Math.min(end(), line.length()));
    at = line.length();
    return text.stripTrailing();
  }
}
