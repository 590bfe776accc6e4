package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Checks cron expressions: five fields, each a list of `*`, numbers and ranges, with steps.
final class CronFields {
  private static final Pattern PART =
      Pattern.compile("(\\*|(\\d{1,2})(?:-(\\d{1,2}))?)(?:/(\\d{1,2}))?");

  private static final String[] NAMES = {"minute", "hour", "day", "month", "weekday"};
  private static final int[] LEAST = {0, 0, 1, 1, 0};
  private static final int[] MOST = {59, 23, 31, 12, 7};

  private CronFields() {}

  /// @throws EngineException INVALID_PARAMETER_VALUE
  static void check(String cron) {
    String[] fields = cron.strip().split("\\s+", -1);
    if (fields.length != NAMES.length) {
      throw invalid(cron, "It has five fields: minute, hour, day, month, weekday.");
    }
    for (int i = 0; i < fields.length; i++) {
      for (String part : fields[i].split(",", -1)) {
        if (!isPart(part, LEAST[i], MOST[i])) {
          throw invalid(
              cron,
              "The %s is a list of numbers from %d to %d, ranges, and *, each perhaps with /step."
                  .formatted(NAMES[i], LEAST[i], MOST[i]));
        }
      }
    }
  }

  private static boolean isPart(String part, int least, int most) {
    Matcher matcher = PART.matcher(part);
    if (!matcher.matches()) {
      return false;
    }
    String step = matcher.group(4);
    if (step != null && Integer.parseInt(step) == 0) {
      return false;
    }
    String from = matcher.group(2);
    if (from == null) {
      return true;
    }
    int first = Integer.parseInt(from);
    String to = matcher.group(3);
    int last = to == null ? first : Integer.parseInt(to);
    return first >= least && last <= most && first <= last;
  }

  private static EngineException invalid(String cron, String hint) {
    return new EngineException(
            ErrorCode.INVALID_PARAMETER_VALUE, "invalid cron expression: \"" + cron + "\"")
        .withHint(hint);
  }
}
