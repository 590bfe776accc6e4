package dev.kakehashi.server;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.file.ReplacedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Settings that ALTER SYSTEM has set: a file in the data directory. It is read after the configuration file and before the options of the
/// command, as PostgreSQL's `postgresql.auto.conf` is.
///
/// The file is replaced as a whole, durably: after a crash it is the old or the new one. Thread-safe.
final class AutoSettings implements ShownSetting.Keeper {
  /// Its name in the data directory.
  static final String FILE = "kakehashi.auto.conf";

  private static final String HEAD =
      "# Written by ALTER SYSTEM. Read after the configuration file; who edits it is overwritten by the next ALTER SYSTEM.\n";

  /// Settings that say where this file is, or who may ask.
  private static final Set<String> FIXED =
      Set.of(
          Setting.DATA_DIRECTORY.key(),
          Setting.RUNTIME_DIRECTORY.key(),
          Setting.INSTANCE.key(),
          Setting.ENGINE.key());

  /// Settings that are right on one machine alone.
  private static final Set<String> OF_PRIMARY =
      Set.of(
          Setting.PRIMARY.key(),
          Setting.PRIMARY_USER.key(),
          Setting.PRIMARY_PASSWORD_FILE.key(),
          Setting.PRIMARY_TLS_AUTHORITY.key(),
          Setting.STANDBY_NAME.key());

  private static final int MOST_VALUE = 8192;

  private final Path data;
  private final Reload.Source source;

  /// @param source of all settings, for looking at what a restart would find
  AutoSettings(Path data, Reload.Source source) {
    this.data = data;
    this.source = source;
  }

  @Override
  public synchronized void change(@Nullable String name, @Nullable String value) {
    Path file = data.resolve(FILE);
    try {
      Map<String, String> values = new LinkedHashMap<>(read(file));
      if (name == null) {
        values.clear();
      } else {
        check(name, value);
        if (value == null) {
          values.remove(name);
        } else {
          values.put(name, value);
        }
      }
      write(file, values);
    } catch (IOException failed) {
      throw new EngineException(
          ErrorCode.IO_ERROR, "could not change \"" + file + "\": " + Main.reason(failed));
    }
  }

  private void check(String name, @Nullable String value) throws IOException {
    if (!Settings.defaults().all().containsKey(name)) {
      throw new EngineException(
          ErrorCode.UNDEFINED_OBJECT, "unrecognized configuration parameter \"" + name + "\"");
    }
    if (FIXED.contains(name)) {
      throw new EngineException(
          ErrorCode.NOT_IN_PREREQUISITE_STATE, "parameter \"" + name + "\" cannot be changed");
    }
    if (value == null) {
      return;
    }
    // The file has one line for each, and comments begin with a number sign.
    if (value.length() > MOST_VALUE
        || !value.equals(value.strip())
        || value.chars().anyMatch(c -> c < ' ')
        || value.matches("(^|.*\\s)#.*")) {
      throw invalid(name, "it is too long, or has a line break, a comment or spaces around it");
    }
    try {
      Settings wanted = source.read().copy().set(name, value);
      // Settings that contradict each other would keep the endpoint from its next start.
      wanted.transport(EndpointServer.version());
    } catch (SettingsException refused) {
      throw invalid(name, String.valueOf(refused.getMessage()));
    }
  }

  private static EngineException invalid(String name, String why) {
    return new EngineException(
            ErrorCode.INVALID_PARAMETER_VALUE, "invalid value for parameter \"" + name + "\"")
        .withDetail(why);
  }

  private static Map<String, String> read(Path file) throws IOException {
    return Files.exists(file) ? Settings.lines(file) : Map.of();
  }

  /// Takes the file's settings.
  ///
  /// @throws SettingsException naming file and line
  static void addTo(Settings settings, Path data) throws IOException {
    Path file = data.resolve(FILE);
    if (Files.exists(file)) {
      settings.include(file, Settings.SYSTEM);
    }
  }

  /// Takes settings out of the copy of a primary's directory that say who the primary is, and whom it would follow: with them a standby
  /// would take itself for its primary, or wait for itself once it is promoted.
  ///
  /// @param name of the standby; null: not known, so that the setting with the name that commits wait for goes, too
  /// @return those that were there, as lines
  static List<String> leaveOutPrimarys(Path data, @Nullable String name) throws IOException {
    Path file = data.resolve(FILE);
    Map<String, String> values = new LinkedHashMap<>(read(file));
    List<String> left = new ArrayList<>();
    values
        .entrySet()
        .removeIf(each -> {
          boolean isLeft =
              OF_PRIMARY.contains(each.getKey())
                  || (each.getKey().equals(Setting.SYNCHRONOUS_STANDBY.key())
                      && (name == null || each.getValue().equals(name)));
          if (isLeft) {
            left.add(each.getKey() + " = " + each.getValue());
          }
          return isLeft;
        });
    if (!left.isEmpty()) {
      write(file, values);
    }
    return left;
  }

  private static void write(Path file, Map<String, String> values) throws IOException {
    StringBuilder text = new StringBuilder(HEAD);
    values.forEach((name, value) -> text.append(name).append(" = ").append(value).append('\n'));
    ReplacedFile.write(file, text.toString());
  }
}
