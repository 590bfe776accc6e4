package dev.kakehashi.engine.type.array;

import static dev.kakehashi.protocol.TypeOid.BOOL;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.SqlErrors;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.text.TextCursor;
import dev.kakehashi.protocol.TypeOid;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// parse_ident(): the parts of a qualified name.
public final class IdentifierParser extends TextCursor {
  private final boolean strict;

  private IdentifierParser(String text, boolean strict) {
    super(text);
    this.strict = strict;
  }

  public static void register(FunctionSet set) {
    int result = TypeOid.arrayOf(TEXT);
    set.add("parse_ident", result, (a, _, c) -> parsed(a[0], true, c), TEXT);
    set.add("parse_ident", result, (a, _, c) -> parsed(a[0], a[1] != 0, c), TEXT, BOOL);
  }

  private static long parsed(long word, boolean strict, FunctionContext context) {
    return ArrayTypes.word(
        ArrayValue.of(new IdentifierParser(Varlena.string(word), strict).parts()), context);
  }

  private List<@Nullable String> parts() {
    List<@Nullable String> parts = new ArrayList<>();
    do {
      skipBlanks();
      parts.add(part(!parts.isEmpty()));
      skipBlanks();
    } while (acceptDot());
    if (strict && !atEnd()) {
      throw malformed();
    }
    return parts;
  }

  private boolean acceptDot() {
    boolean dot = !atEnd() && text.charAt(at) == '.';
    if (dot) {
      at++;
    }
    return dot;
  }

  private String part(boolean afterDot) {
    if (!atEnd() && text.charAt(at) == '"') {
      return quoted();
    }
    int start = at;
    if (!atEnd() && begins(text.charAt(at))) {
      at++;
      while (!atEnd() && continues(text.charAt(at))) {
        at++;
      }
    }
    if (at == start) {
      throw !atEnd() && text.charAt(at) == '.'
          ? malformed().withDetail("No valid identifier before \".\".")
          : afterDot ? malformed().withDetail("No valid identifier after \".\".") : malformed();
    }
    StringBuilder name = new StringBuilder(text.substring(start, at));
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c >= 'A' && c <= 'Z') {
        name.setCharAt(i, (char) (c + 'a' - 'A'));
      }
    }
    return name.toString();
  }

  private String quoted() {
    StringBuilder name = new StringBuilder();
    at++;
    while (true) {
      int end = text.indexOf('"', at);
      if (end < 0) {
        throw malformed().withDetail("String has unclosed double quotes.");
      }
      name.append(text, at, end);
      at = end + 1;
      if (atEnd() || text.charAt(at) != '"') {
        break;
      }
      name.append('"');
      at++;
    }
    if (name.isEmpty()) {
      throw malformed().withDetail("Quoted identifier must not be empty.");
    }
    return name.toString();
  }

  private static boolean begins(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
  }

  private static boolean continues(char c) {
    return begins(c) || (c >= '0' && c <= '9') || c == '$';
  }

  @Override
  protected boolean isBlank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
  }

  @Override
  protected EngineException malformed() {
    return SqlErrors.invalidParameter("string is not a valid identifier: \"" + text + "\"");
  }
}
