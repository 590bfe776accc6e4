package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.sql.parser.QueueStatement.Option;
import dev.kakehashi.engine.type.queue.QueueDurations;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.NearestWord;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads options of applications: their limits, and where their code runs.
final class ApplicationOptionReader {
  private static final String ISOLATION = "isolation";

  private static final List<String> NAMES =
      List.of(
          "time_limit",
          "max_rows",
          "max_bytes",
          "max_calls",
          "max_waiting",
          "max_stack",
          "memory",
          "function_time_limit",
          ISOLATION);

  private static final long MOST_MILLIS = 365L * 24 * 3600 * 1000;
  private static final long MOST_COUNT = 1_000_000_000_000L;
  private static final int MOST_CALLS = 100_000;
  private static final long MOST_BYTES = 1L << 40;
  private static final long LEAST_STACK = 64 << 10;
  private static final long MOST_STACK = 1L << 30;
  private static final long LEAST_MEMORY = 16 << 20;

  private ApplicationOptionReader() {}

  /// @param present what is not said stays
  /// @param withIsolation whether that may be said
  /// @throws EngineException INVALID_PARAMETER_VALUE, SYNTAX_ERROR for one that comes twice
  static ApplicationOptions with(
      ApplicationOptions present, List<Option> given, boolean withIsolation) {
    Set<String> said = new HashSet<>();
    ApplicationOptions next = present;
    for (Option option : given) {
      if (!said.add(option.name())) {
        throw new EngineException(ErrorCode.SYNTAX_ERROR, "conflicting or redundant options")
            .withPosition(option.position());
      }
      try {
        if (option.name().equals(ISOLATION)) {
          if (!withIsolation) {
            throw invalid("isolation belongs to a version")
                .withHint("Say it with ALTER APPLICATION ... FROM ... WITH (isolation = ...).");
          }
          CodeIsolation ignored = isolation(option.value());
        } else {
          next = set(next, option.name(), option.value());
        }
      } catch (EngineException refused) {
        throw refused.position() == 0 ? refused.withPosition(option.position()) : refused;
      }
    }
    return next;
  }

  /// Where the code runs.
  static CodeIsolation isolation(List<Option> given, CodeIsolation usual) {
    CodeIsolation said = usual;
    for (Option option : given) {
      if (option.name().equals(ISOLATION)) {
        said = isolation(option.value());
      }
    }
    return said;
  }

  private static CodeIsolation isolation(String value) {
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "none" -> CodeIsolation.NONE;
      case "process" -> CodeIsolation.PROCESS;
      default -> throw bad(ISOLATION, value, "It is 'none' or 'process'.");
    };
  }

  /// The same with the defaults of some.
  static ApplicationOptions without(ApplicationOptions present, List<String> names) {
    ApplicationOptions next = present;
    for (String name : names) {
      next = set(next, name, null);
    }
    return next;
  }

  /// @param value null: the default
  private static ApplicationOptions set(
      ApplicationOptions is, String name, @Nullable String value) {
    ApplicationOptions usual = ApplicationOptions.DEFAULT;
    long time = is.timeLimitMillis();
    long rows = is.maxRows();
    long bytes = is.maxBytes();
    long calls = is.maxCalls();
    long waiting = is.maxWaiting();
    long stack = is.maxStackBytes();
    long memory = is.memoryBytes();
    long functionTime = is.functionTimeMillis();
    switch (name) {
      case "time_limit" -> time = value == null ? usual.timeLimitMillis() : millis(name, value);
      case "max_rows" -> rows = value == null ? usual.maxRows() : count(name, value, 1, MOST_COUNT);
      case "max_bytes" ->
          bytes = value == null ? usual.maxBytes() : bytes(name, value, 1, MOST_BYTES);
      case "max_calls" ->
          calls = value == null ? usual.maxCalls() : count(name, value, 1, MOST_CALLS);
      case "max_waiting" ->
          waiting = value == null ? usual.maxWaiting() : count(name, value, 0, MOST_CALLS);
      case "max_stack" ->
          stack =
              value == null ? usual.maxStackBytes() : bytes(name, value, LEAST_STACK, MOST_STACK);
      case "memory" ->
          memory =
              value == null ? usual.memoryBytes() : bytes(name, value, LEAST_MEMORY, MOST_BYTES);
      case "function_time_limit" ->
          functionTime = value == null ? usual.functionTimeMillis() : millis(name, value);
      default -> throw unknown(name);
    }
    return new ApplicationOptions(
        time, rows, bytes, (int) calls, (int) waiting, stack, memory, functionTime);
  }

  private static long millis(String name, String value) {
    long millis = QueueDurations.millis(name, value);
    if (millis < 1 || millis > MOST_MILLIS) {
      throw invalid(
          "%s must be between 1ms and %s".formatted(name, QueueDurations.text(MOST_MILLIS)));
    }
    return millis;
  }

  private static long count(String name, String value, long least, long most) {
    try {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException notWhole) {
      throw bad(name, value, "It is a whole number from %d on.".formatted(least));
    }
    throw invalid("%s must be between %d and %d".formatted(name, least, most));
  }

  /// `64MB`; a number alone is of bytes.
  private static long bytes(String name, String value, long least, long most) {
    String text = value.strip();
    int digits = 0;
    while (digits < text.length() && text.charAt(digits) >= '0' && text.charAt(digits) <= '9') {
      digits++;
    }
    int shift =
        switch (text.substring(digits).strip().toLowerCase(Locale.ROOT)) {
          case "", "b" -> 0;
          case "kb" -> 10;
          case "mb" -> 20;
          case "gb" -> 30;
          default -> -1;
        };
    if (digits == 0 || digits > 15 || shift < 0) {
      throw bad(name, value, "It is like '64MB'.");
    }
    long number = Long.parseLong(text.substring(0, digits));
    if (number < -Math.floorDiv(-least, 1L << shift) || number > most >> shift) {
      throw invalid("%s must be between %d and %d bytes".formatted(name, least, most));
    }
    return number << shift;
  }

  private static EngineException bad(String name, String value, String hint) {
    return invalid("invalid value for %s: \"%s\"".formatted(name, value)).withHint(hint);
  }

  private static EngineException invalid(String message) {
    return new EngineException(ErrorCode.INVALID_PARAMETER_VALUE, message);
  }

  private static EngineException unknown(String name) {
    String nearest = NAMES.getFirst();
    for (String each : NAMES) {
      if (NearestWord.distance(name, each) < NearestWord.distance(name, nearest)) {
        nearest = each;
      }
    }
    return invalid("applications have no option \"" + name + "\"")
        .withHint(
            NearestWord.distance(name, nearest) <= Math.max(1, nearest.length() / 3)
                ? "Perhaps you meant \"" + nearest + "\"."
                : "There are " + String.join(", ", NAMES) + ".");
  }
}
