package dev.kakehashi.engine.type.number;

import static dev.kakehashi.protocol.TypeOid.NUMERIC;
import static dev.kakehashi.protocol.TypeOid.TEXT;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.FunctionContext;
import dev.kakehashi.engine.type.FunctionSet;
import dev.kakehashi.engine.type.Varlena;
import dev.kakehashi.engine.type.number.NumberTemplate.Flag;
import dev.kakehashi.engine.type.numeric.NumericConversion;
import dev.kakehashi.engine.type.numeric.NumericMath;
import dev.kakehashi.engine.type.numeric.Numerics;
import dev.kakehashi.engine.vector.VarHeap;
import dev.kakehashi.protocol.ErrorCode;
import java.util.Locale;

/// to_number(): reads a number by a template, step by step as PostgreSQL's formatting.c, whose results for text that does not fit the
/// template follow from its steps. Decimal point, group separator and signs are those of the locale "C".
final class NumberFromChar {
  private static final String DATA = "0123456789.,+-";

  private final NumberTemplate template;

  /// UTF-8; positions are bytes as in PostgreSQL.
  private final byte[] input;

  private int at;
  private char sign = ' ';
  private final StringBuilder digits = new StringBuilder();
  private int digitsBefore;
  private int digitsAfter;
  private boolean pointRead;

  private NumberFromChar(NumberTemplate template, byte[] input) {
    this.template = template;
    this.input = input;
  }

  static void register(FunctionSet set) {
    set.addStable("to_number", NUMERIC, (a, _, c) -> number(a, c), TEXT, TEXT);
  }

  private static long number(long[] arguments, FunctionContext context) {
    String text = Varlena.string(arguments[1]);
    if (text.isEmpty()) {
      return context.nullResult();
    }
    NumberTemplate template = NumberTemplate.of(text);
    refuse(template, Flag.SCIENTIFIC, "EEEE");
    refuse(template, Flag.ROMAN, "RN");
    return new NumberFromChar(template, Varlena.bytes(arguments[0])).read(context.heap);
  }

  private static void refuse(NumberTemplate template, Flag flag, String pattern) {
    if (template.has(flag)) {
      throw new EngineException(
          ErrorCode.FEATURE_NOT_SUPPORTED, "\"" + pattern + "\" not supported for input");
    }
  }

  private long read(VarHeap heap) {
    for (NumberTemplate.Node node : template.nodes()) {
      if (atEnd()) {
        break;
      }
      if (node.pattern()) {
        pattern(node.text().toUpperCase(Locale.ROOT));
      } else {
        character();
      }
    }
    int last = digits.length() - 1;
    if (last >= 0 && digits.charAt(last) == '.') {
      digits.setLength(last);
    }
    int precision = template.pre() + template.shift() + digitsAfter;
    long value =
        NumericConversion.coerce(
            NumericConversion.parse(sign + digits.toString(), heap),
            ((precision << 16) | digitsAfter) + 4,
            heap);
    if (!template.has(Flag.SHIFT)) {
      return value;
    }
    long factor =
        NumericMath.power(
            NumericConversion.parse("10", heap),
            NumericConversion.parse(Integer.toString(-template.shift()), heap),
            heap);
    return Numerics.multiply(value, factor, heap);
  }

  private boolean atEnd() {
    return at >= input.length;
  }

  private boolean at(char c) {
    return !atEnd() && input[at] == c;
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }

  private void pattern(String pattern) {
    switch (pattern) {
      case "9", "0" -> place(true);
      case ".", "D" -> place(false);
      case ",", "G" -> {
        if (!template.has(Flag.FILL_MODE) && at(',')) {
          at++;
        }
      }
      case "L" -> skip(1);
      case "TH" -> skip(2);
      case "MI" -> outerSign("-");
      case "PL" -> outerSign("+");
      case "SG" -> outerSign("-+");
      default -> {
        // S, PR, FM, V and the rest say how other patterns are read.
      }
    }
  }

  private void outerSign(String signs) {
    if (signs.indexOf(input[at]) >= 0) {
      sign = (char) input[at++];
    } else {
      skip(1);
    }
  }

  /// Skips characters that cannot be of the number.
  private void skip(int count) {
    for (int i = 0; i < count && !atEnd() && DATA.indexOf(input[at]) < 0; i++) {
      character();
    }
  }

  private void character() {
    int lead = input[at] & 0xFF;
    at += lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  }

  /// Reads what stands in the place of a digit or of the decimal point.
  private void place(boolean digit) {
    number(digit);
    at++;
  }

  private void number(boolean digit) {
    if (at(' ')) {
      at++;
    }
    if (atEnd()) {
      return;
    }
    if (sign == ' ' && digit && digitsBefore + digitsAfter == 0) {
      leadingSign();
    }
    if (atEnd()) {
      return;
    }
    boolean read = false;
    if (isDigit(input[at])) {
      if (pointRead && digitsAfter == template.post()) {
        return;
      }
      digits.append((char) input[at]);
      if (pointRead) {
        digitsAfter++;
      } else {
        digitsBefore++;
      }
      read = true;
    } else if (template.has(Flag.DECIMAL) && !pointRead && at('.')) {
      digits.append('.');
      pointRead = true;
      read = true;
    }
    if (sign == ' ' && digitsBefore + digitsAfter > 0) {
      trailingSign(read);
    }
  }

  private void leadingSign() {
    if (at('-') || (template.has(Flag.BRACKET) && at('<'))) {
      sign = '-';
      at++;
    } else if (at('+')) {
      sign = '+';
      at++;
    }
  }

  /// A sign behind the last digit, whose place the template does not say exactly.
  private void trailingSign(boolean read) {
    if (template.has(Flag.SIGN)) {
      if (read && at + 1 < input.length && (input[at + 1] == '-' || input[at + 1] == '+')) {
        at++;
        sign = (char) input[at];
      }
    } else if (!read
        && (template.has(Flag.PLUS) || template.has(Flag.MINUS))
        && (at('-') || at('+'))) {
      sign = (char) input[at];
    }
  }
}
