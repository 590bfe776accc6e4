package dev.kakehashi.engine.type.text;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.vector.Interrupts;

/// A place in a text that is read character by character. Confined to one thread.
public abstract class TextCursor {
  private static final int CHECK_MASK = (1 << 8) - 1;

  protected final String text;

  /// Index of the next character.
  protected int at;

  private int parts;

  protected TextCursor(String text) {
    this.text = text;
  }

  /// To be called for each part that is read: looks from time to time whether the statement was canceled.
  protected final void checkNowAndThen() {
    if ((++parts & CHECK_MASK) == 0) {
      Interrupts.check();
    }
  }

  /// The error for a text that is not of the form, also where it ends too early.
  protected abstract EngineException malformed();

  /// Whether a character may stand between the parts of the text.
  protected abstract boolean isBlank(char c);

  /// @throws EngineException that of [#malformed()] at the end
  protected final char peek() {
    if (atEnd()) {
      throw malformed();
    }
    return text.charAt(at);
  }

  /// @throws EngineException that of [#malformed()] at the end
  protected final char next() {
    char c = peek();
    at++;
    return c;
  }

  protected final boolean atEnd() {
    return at >= text.length();
  }

  protected final void skipBlanks() {
    while (!atEnd() && isBlank(text.charAt(at))) {
      at++;
    }
  }
}
