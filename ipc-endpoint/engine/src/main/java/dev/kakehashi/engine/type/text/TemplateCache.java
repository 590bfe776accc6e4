package dev.kakehashi.engine.type.text;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/// Parsed templates by their text: they are few and used for many rows. Thread-safe; at most 64 of at most 128 characters are kept.
public final class TemplateCache<T> {
  private static final int MAX_TEMPLATES = 64;
  private static final int MAX_CHARACTERS = 128;

  private final Map<String, T> templates = new ConcurrentHashMap<>();
  private final Function<String, T> parser;

  public TemplateCache(Function<String, T> parser) {
    this.parser = parser;
  }

  public T of(String text) {
    T known = templates.get(text);
    if (known != null) {
      return known;
    }
    T parsed = parser.apply(text);
    if (text.length() <= MAX_CHARACTERS) {
      if (templates.size() >= MAX_TEMPLATES) {
        templates.clear();
      }
      templates.put(text, parsed);
    }
    return parsed;
  }
}
