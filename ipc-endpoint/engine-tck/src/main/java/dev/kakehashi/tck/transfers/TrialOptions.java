package dev.kakehashi.tck.transfers;

import dev.kakehashi.tck.drive.EngineUnderTest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/// How a trial runs.
///
/// @param engine class of the [EngineUnderTest], which has a constructor without parameters
/// @param ledger file for what the writers have been told; made by the trial
/// @param role `trial`, or what a child does: `load`, `check`
public record TrialOptions(
    String engine, Path ledger, Load load, Kills kills, Limits limits, String role) {
  /// @param accounts rows that money is moved between, 2 or more
  /// @param writers threads that move money
  /// @param readers threads that add everything up
  public record Load(int accounts, int writers, int readers) {}

  /// @param count how often something is killed
  /// @param everyMillis time of load before a kill, and after it
  /// @param command kills something; empty: the engine runs in a child of this process, which is killed
  /// @param restart command that starts again what was killed; empty: nothing has to be started
  public record Kills(int count, long everyMillis, String command, String restart) {}

  /// @param callLimitMillis longest time of one call
  /// @param recoveryMillis time after a kill within which every row has to be writable, and no transaction may be undecided
  /// @param leastRate percent of the rate before a kill that is to be reached between the first commit after it and the restart; the median
  ///     of all kills counts
  public record Limits(long callLimitMillis, long recoveryMillis, int leastRate) {}

  private static final Map<String, String> DEFAULTS = new LinkedHashMap<>();

  static {
    DEFAULTS.put("engine", "");
    DEFAULTS.put("ledger", "transfers.ledger");
    DEFAULTS.put("accounts", "1000");
    DEFAULTS.put("writers", "4");
    DEFAULTS.put("readers", "1");
    DEFAULTS.put("kills", "10");
    DEFAULTS.put("millis", "5000");
    DEFAULTS.put("call-limit-millis", "35000");
    DEFAULTS.put("recovery-millis", "60000");
    DEFAULTS.put("least-rate", "0");
    DEFAULTS.put("kill", "");
    DEFAULTS.put("restart", "");
    DEFAULTS.put("role", "trial");
  }

  /// Text that is written when the arguments are wrong.
  static String usage() {
    StringBuilder usage = new StringBuilder("options, each followed by its value:");
    DEFAULTS.forEach((name, value) -> usage.append(" --%s=%s".formatted(name, value)));
    return usage.toString();
  }

  /// @param arguments `--name=value` each
  /// @throws IllegalArgumentException one is unknown, or no number where one is wanted
  static TrialOptions of(List<String> arguments) {
    Map<String, String> values = new LinkedHashMap<>(DEFAULTS);
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      if (!argument.startsWith("--")
          || equals < 0
          || !values.containsKey(argument.substring(2, equals))) {
        throw new IllegalArgumentException("unknown option " + argument);
      }
      values.put(argument.substring(2, equals), argument.substring(equals + 1));
    }
    if (value(values, "engine").isEmpty()) {
      throw new IllegalArgumentException("--engine is missing");
    }
    String role = value(values, "role");
    if (!Set.of("trial", "load", "check").contains(role)) {
      throw new IllegalArgumentException("unknown role " + role);
    }
    return new TrialOptions(
        value(values, "engine"),
        Path.of(value(values, "ledger")).toAbsolutePath(),
        new Load(
            (int) number(values, "accounts", 2),
            (int) number(values, "writers", 1),
            (int) number(values, "readers", 0)),
        new Kills(
            (int) number(values, "kills", 0),
            number(values, "millis", 1),
            value(values, "kill"),
            value(values, "restart")),
        new Limits(
            number(values, "call-limit-millis", 1),
            number(values, "recovery-millis", 1),
            (int) number(values, "least-rate", 0)),
        role);
  }

  private static String value(Map<String, String> values, String name) {
    return Objects.requireNonNull(values.get(name), name);
  }

  private static long number(Map<String, String> values, String name, long least) {
    long number = Long.parseLong(value(values, name));
    if (number < least || number > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "--%s has to be %d to %d".formatted(name, least, Integer.MAX_VALUE));
    }
    return number;
  }

  /// Arguments of a child that has another role.
  List<String> arguments(String childRole) {
    List<String> arguments = new ArrayList<>();
    arguments.add("--engine=" + engine);
    arguments.add("--ledger=" + ledger);
    arguments.add("--accounts=" + load.accounts);
    arguments.add("--writers=" + load.writers);
    arguments.add("--readers=" + load.readers);
    arguments.add("--call-limit-millis=" + limits.callLimitMillis);
    arguments.add("--recovery-millis=" + limits.recoveryMillis);
    arguments.add("--role=" + childRole);
    return arguments;
  }

  /// The engine, not yet open.
  EngineUnderTest make() throws ReflectiveOperationException {
    return Class.forName(engine)
        .asSubclass(EngineUnderTest.class)
        .getDeclaredConstructor()
        .newInstance();
  }
}
