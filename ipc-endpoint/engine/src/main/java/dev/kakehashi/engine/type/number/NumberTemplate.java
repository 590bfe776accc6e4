package dev.kakehashi.engine.type.number;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.type.text.TemplateCache;
import dev.kakehashi.engine.type.text.TemplateReader;
import dev.kakehashi.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/// A template of to_char() of numbers, cut into patterns and texts and counted as PostgreSQL does. Immutable.
///
/// @param nodes in their order
/// @param flags of the whole template
/// @param pre digits in front of the decimal point
/// @param post digits after it
/// @param shift digits after V
/// @param zeroStart the digit, from 1, from which zeros are written; 0: none
/// @param zeroEnd the digit to which zeros are written
/// @param sign where S stands
/// @param digitsBeforeSign digits in front of the point that stand in front of S
record NumberTemplate(
    List<Node> nodes,
    Set<Flag> flags,
    int pre,
    int post,
    int shift,
    int zeroStart,
    int zeroEnd,
    Sign sign,
    int digitsBeforeSign) {
  /// Property of a template as a whole.
  enum Flag {
    DECIMAL,
    ZERO,
    BLANK,
    FILL_MODE,
    SIGN,
    MINUS,
    PLUS,
    BRACKET,
    ROMAN,
    SHIFT,
    SCIENTIFIC
  }

  /// Place of S.
  enum Sign {
    NONE,
    BEFORE,
    AFTER
  }

  /// A pattern, or text between patterns.
  record Node(String text, boolean pattern) {}

  private static final List<String> PATTERNS =
      List.of(
          ", . 0 9 B C D EEEE FM G L MI PL PR RN SG SP S TH V b c d eeee fm g l mi pl pr rn sg sp s th v"
              .split(" "));

  private static final TemplateCache<NumberTemplate> CACHE =
      new TemplateCache<>(text -> new Parser().parse(text));

  /// @throws EngineException SYNTAX_ERROR for patterns that do not go together
  static NumberTemplate of(String text) {
    return CACHE.of(text);
  }

  boolean has(Flag flag) {
    return flags.contains(flag);
  }

  private static final class Parser {
    private final List<Node> nodes = new ArrayList<>();
    private final EnumSet<Flag> flags = EnumSet.noneOf(Flag.class);
    private int pre;
    private int post;
    private int shift;
    private int zeroStart;
    private int zeroEnd;
    private Sign sign = Sign.NONE;
    private int digitsBeforeSign;

    NumberTemplate parse(String text) {
      TemplateReader in = new TemplateReader(text);
      while (!in.atEnd()) {
        String pattern = in.accept(PATTERNS);
        if (pattern == null) {
          in.text(c -> nodes.add(new Node(c, false)));
        } else {
          nodes.add(new Node(pattern, true));
          count(pattern.toUpperCase(Locale.ROOT));
        }
      }
      return new NumberTemplate(
          List.copyOf(nodes),
          Set.copyOf(flags),
          pre,
          post,
          shift,
          zeroStart,
          zeroEnd,
          sign,
          digitsBeforeSign);
    }

    private void count(String pattern) {
      refuse(
          has(Flag.SCIENTIFIC) && !pattern.equals("EEEE"),
          "\"EEEE\" must be the last pattern used");
      switch (pattern) {
        case "9" -> nine();
        case "0" -> zero();
        case "B" -> {
          if (pre == 0 && post == 0 && !has(Flag.ZERO)) {
            flags.add(Flag.BLANK);
          }
        }
        case "D", "." -> {
          refuse(has(Flag.DECIMAL), "multiple decimal points");
          refuse(has(Flag.SHIFT), "cannot use \"V\" and decimal point together");
          flags.add(Flag.DECIMAL);
        }
        case "FM" -> flags.add(Flag.FILL_MODE);
        case "S" -> sign();
        case "MI" -> outerSign(pattern, Flag.MINUS);
        case "PL" -> outerSign(pattern, Flag.PLUS);
        case "SG" -> {
          outerSign(pattern, Flag.MINUS);
          flags.add(Flag.PLUS);
        }
        case "PR" -> {
          refuse(
              has(Flag.SIGN) || has(Flag.PLUS) || has(Flag.MINUS),
              "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together");
          flags.add(Flag.BRACKET);
        }
        case "RN" -> flags.add(Flag.ROMAN);
        case "V" -> {
          refuse(has(Flag.DECIMAL), "cannot use \"V\" and decimal point together");
          flags.add(Flag.SHIFT);
        }
        case "EEEE" -> scientific();
        default -> {
          // Counts nothing.
        }
      }
    }

    private void nine() {
      refuse(has(Flag.BRACKET), "\"9\" must be ahead of \"PR\"");
      if (has(Flag.SHIFT)) {
        shift++;
      } else if (has(Flag.DECIMAL)) {
        post++;
      } else {
        pre++;
      }
    }

    private void zero() {
      refuse(has(Flag.BRACKET), "\"0\" must be ahead of \"PR\"");
      if (!has(Flag.ZERO) && !has(Flag.DECIMAL)) {
        flags.add(Flag.ZERO);
        zeroStart = pre + 1;
      }
      if (has(Flag.DECIMAL)) {
        post++;
      } else {
        pre++;
      }
      zeroEnd = pre + post;
    }

    private void sign() {
      refuse(has(Flag.SIGN), "cannot use \"S\" twice");
      refuse(
          has(Flag.PLUS) || has(Flag.MINUS) || has(Flag.BRACKET),
          "cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together");
      flags.add(Flag.SIGN);
      if (has(Flag.DECIMAL)) {
        sign = Sign.AFTER;
      } else {
        sign = Sign.BEFORE;
        digitsBeforeSign = pre;
      }
    }

    private void outerSign(String pattern, Flag flag) {
      refuse(has(Flag.SIGN), "cannot use \"S\" and \"" + pattern + "\" together");
      flags.add(flag);
    }

    private void scientific() {
      refuse(has(Flag.SCIENTIFIC), "cannot use \"EEEE\" twice");
      EnumSet<Flag> others = EnumSet.copyOf(flags);
      others.add(Flag.DECIMAL);
      others.add(Flag.ZERO);
      refuse(others.size() > 2, "\"EEEE\" is incompatible with other formats");
      flags.add(Flag.SCIENTIFIC);
    }

    private boolean has(Flag flag) {
      return flags.contains(flag);
    }

    private static void refuse(boolean wrong, String message) {
      if (wrong) {
        throw new EngineException(ErrorCode.SYNTAX_ERROR, message);
      }
    }
  }
}
