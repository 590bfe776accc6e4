package dev.kakehashi.engine.type.text;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Reads a template of to_char(): words, and text in and out of quotes. Confined to one thread.
public final class TemplateReader {
  private final String text;
  private int at;

  public TemplateReader(String text) {
    this.text = text;
  }

  public boolean atEnd() {
    return at >= text.length();
  }

  /// The first of the words that stands here, read; null if there is none.
  public @Nullable String accept(List<String> words) {
    for (String word : words) {
      if (text.startsWith(word, at)) {
        at += word.length();
        return word;
      }
    }
    return null;
  }

  /// Whether a string in quotes begins here.
  public boolean atQuote() {
    return !atEnd() && text.charAt(at) == '"';
  }

  /// Reads a character, or a string in quotes.
  ///
  /// @param characters takes them one by one
  public void text(Consumer<String> characters) {
    if (text.charAt(at) != '"') {
      // Outside of quotes a backslash means something only in front of one.
      if (text.startsWith("\\\"", at)) {
        at++;
      }
      characters.accept(character());
      return;
    }
    at++;
    while (!atEnd()) {
      if (text.charAt(at) == '"') {
        at++;
        return;
      }
      if (text.charAt(at) == '\\' && at + 1 < text.length()) {
        at++;
      }
      characters.accept(character());
    }
  }

  private String character() {
    int start = at;
    at = text.offsetByCodePoints(at, 1);
    return text.substring(start, at);
  }
}
