package dev.kakehashi.engine.type.number;

import dev.kakehashi.engine.type.number.NumberTemplate.Flag;
import dev.kakehashi.engine.type.number.NumberTemplate.Sign;
import dev.kakehashi.engine.type.text.Ordinals;
import java.util.Locale;

/// Lays the digits of a number out in a template, step by step as PostgreSQL's formatting.c, whose results in odd templates follow from its
/// steps. Decimal point, group separator and signs are those of the locale "C".
final class NumberLayout {
  private static final String ROMAN_OVERFLOW = "#".repeat(15);
  private static final int ROMAN_WIDTH = 15;

  private final NumberTemplate template;
  private final boolean roman;
  private final boolean fillMode;
  private final boolean zero;
  private final boolean decimal;
  private final boolean signed;
  private final boolean bracket;
  private final Sign signPlace;
  private final String digits;
  private final int blanks;
  private final char sign;
  private final int post;
  private final int zeroStart;
  private final int count;

  /// Place in `digits` of the last digit after the point that is not 0, or of the point; -1: all are written.
  private final int lastRelevant;

  private final StringBuilder out = new StringBuilder();
  private boolean signWritten;
  private boolean inNumber;
  private int at;
  private int current;

  /// @param digits without a sign
  /// @param sign '+' or '-'
  /// @param pre digits in front of the point that the template has room for
  /// @param post digits after it
  private NumberLayout(
      NumberTemplate template, String digits, char sign, int pre, int post, int blanks) {
    this.template = template;
    this.roman = template.has(Flag.ROMAN);
    this.fillMode = template.has(Flag.FILL_MODE);
    this.zero = template.has(Flag.ZERO) && !roman;
    this.decimal = template.has(Flag.DECIMAL) && !roman;
    this.signed = template.has(Flag.SIGN) && !roman;
    this.digits = digits;
    this.blanks = blanks;
    this.sign = sign;
    this.post = post;
    this.zeroStart = Math.max(0, template.zeroStart() - 1);
    boolean plus = template.has(Flag.PLUS) && !roman;
    boolean minus = template.has(Flag.MINUS) && !roman;
    boolean wantsBracket = template.has(Flag.BRACKET) && !roman;
    Sign place = roman ? Sign.NONE : template.sign();
    if (plus || minus) {
      signWritten = minus;
      this.bracket = wantsBracket;
    } else {
      this.bracket = wantsBracket && (sign == '-' || !fillMode);
      signWritten = sign == '+' && fillMode && !signed;
      if (place == Sign.BEFORE && pre == template.digitsBeforeSign()) {
        place = Sign.AFTER;
      }
    }
    this.signPlace = place;
    this.lastRelevant = fillMode && decimal ? lastRelevant() : -1;
    this.count = post + pre - 1 + (!signWritten && blanks == 0 ? 1 : 0);
  }

  /// @param digits the rounded number, without a sign
  /// @param pre digits in front of the point that the template has room for
  /// @param post digits after it
  static String number(NumberTemplate template, String digits, char sign, int pre, int post) {
    int point = digits.indexOf('.');
    int length = point < 0 ? digits.length() : point;
    // A number that does not fit becomes # in every place.
    String shown = length > pre ? "#".repeat(pre) + "." + "#".repeat(post) : digits;
    int blanks = Math.max(0, pre - length);
    return new NumberLayout(template, shown, sign, pre, post, blanks).write();
  }

  static String roman(NumberTemplate template, long number) {
    return new NumberLayout(template, romanNumeral(number), '\0', 0, 0, 0).write();
  }

  private static String romanNumeral(long number) {
    if (number < 1 || number > 3999) {
      return ROMAN_OVERFLOW;
    }
    String[] units = {"", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"};
    String[] tens = {"", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"};
    String[] hundreds = {"", "C", "CC", "CCC", "CD", "D", "DC", "DCC", "DCCC", "CM"};
    int n = (int) number;
    return "M".repeat(n / 1000) + hundreds[n / 100 % 10] + tens[n / 10 % 10] + units[n % 10];
  }

  private int lastRelevant() {
    int point = digits.indexOf('.');
    if (point < 0) {
      return -1;
    }
    int last = point;
    for (int i = point + 1; i < digits.length(); i++) {
      if (digits.charAt(i) != '0') {
        last = i;
      }
    }
    if (template.zeroEnd() > blanks) {
      last = Math.max(last, Math.min(digits.length() - 1, template.zeroEnd() - blanks));
    }
    return last;
  }

  private String write() {
    for (NumberTemplate.Node node : template.nodes()) {
      if (node.pattern()) {
        pattern(node.text());
      } else {
        out.append(node.text());
      }
    }
    // Digits beyond the end of the number end the text.
    int end = out.indexOf("\0");
    return end < 0 ? out.toString() : out.substring(0, end);
  }

  private void pattern(String pattern) {
    switch (pattern.toUpperCase(Locale.ROOT)) {
      case "9", ".", "D" -> digit(false);
      case "0" -> digit(true);
      case ",", "G" -> {
        if (inNumber) {
          out.append(',');
        } else {
          blank();
        }
      }
      case "L" -> out.append(' ');
      case "RN" -> {
        String numeral =
            Character.isLowerCase(pattern.charAt(0)) ? digits.toLowerCase(Locale.ROOT) : digits;
        out.repeat(" ", fillMode ? 0 : Math.max(0, ROMAN_WIDTH - numeral.length())).append(numeral);
      }
      case "TH" -> ordinal(pattern.charAt(0) == 'T');
      case "MI" -> signOrBlank('-');
      case "PL" -> signOrBlank('+');
      case "SG" -> out.append(sign);
      default -> {
        // Stands for nothing of its own.
      }
    }
  }

  private void blank() {
    if (!fillMode) {
      out.append(' ');
    }
  }

  private void signOrBlank(char which) {
    if (sign == which) {
      out.append(sign);
    } else {
      blank();
    }
  }

  private void ordinal(boolean upper) {
    if (roman || digits.startsWith("#") || sign == '-' || decimal) {
      return;
    }
    out.append(Ordinals.ending(digits, upper));
  }

  private void digit(boolean isZero) {
    if (roman) {
      return;
    }
    inNumber = false;
    boolean pointIsLast = lastRelevant >= 0 && digits.charAt(lastRelevant) == '.';
    if (!signWritten
        && (current >= blanks || (zero && zeroStart == current))
        && (!isLeadingZero() || pointIsLast)) {
      signInNumber();
    }
    if (current < blanks) {
      if (zero && zeroStart <= current) {
        out.append('0');
        inNumber = true;
      } else {
        blank();
      }
    } else {
      digitOfNumber(isZero, pointIsLast);
    }
    int end = count + (blanks > 0 ? 1 : 0) + (decimal ? 1 : 0);
    if (lastRelevant >= 0 && lastRelevant == at) {
      end = current;
    }
    if (current + 1 == end) {
      if (signWritten && bracket) {
        out.append(sign == '+' ? ' ' : '>');
      } else if (signed && signPlace == Sign.AFTER) {
        out.append(sign == '-' ? '-' : '+');
      }
    }
    current++;
  }

  private void signInNumber() {
    if (signed) {
      if (signPlace == Sign.BEFORE) {
        out.append(sign == '-' ? '-' : '+');
        signWritten = true;
      }
    } else if (bracket) {
      out.append(sign == '+' ? ' ' : '<');
      signWritten = true;
    } else {
      signOrBlank('-');
      signWritten = true;
    }
  }

  private void digitOfNumber(boolean isZero, boolean pointIsLast) {
    char c = at < digits.length() ? digits.charAt(at) : '\0';
    if (c == '.') {
      if (!pointIsLast || fillMode) {
        out.append('.');
      }
    } else if (lastRelevant < 0 || at <= lastRelevant || isZero) {
      if (!isLeadingZero()) {
        out.append(c);
        inNumber = true;
      } else if (!fillMode) {
        out.append(' ');
      } else if (pointIsLast) {
        out.append('0');
      }
    }
    if (c != '\0') {
      at++;
    }
  }

  /// Whether the digit is the 0 in front of the point, which is not written.
  private boolean isLeadingZero() {
    return !zero && at == 0 && digits.startsWith("0") && post != 0;
  }
}
