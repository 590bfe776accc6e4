package dev.kakehashi.server;

import ch.qos.logback.classic.Level;
import dev.kakehashi.engine.api.Engine;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.server.start.Logging;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Changes settings of a running endpoint: reads them again, as its start did, and takes over those that can be changed. All are read and
/// checked before the first one is changed. Thread-safe.
final class Reload {
  private static final Logger LOG = LoggerFactory.getLogger(Reload.class);

  /// Keys of those that no engine knows.
  private static final Set<String> OWN =
      Set.of(
          Setting.LOG_LEVEL.key(),
          Setting.IDLE_IN_TRANSACTION_TIMEOUT.key(),
          Setting.IDLE_IN_TRANSACTION_TIMEOUT_ROLES.key());

  /// Where an endpoint has its settings from.
  interface Source {
    /// Reads them again.
    ///
    /// @throws SettingsException for what cannot be used
    Settings read() throws IOException;
  }

  private final Source source;
  private final EngineFactory factory;
  private final Engine engine;

  /// Takes over what is the endpoint's own, and not the engine's.
  private final Consumer<Settings> own;

  private final AutoSettings host;

  /// Settings in force, by key. Guarded by `this`.
  private final Map<String, String> running;

  /// Where that comes from. Guarded by `this`.
  private final Map<String, String> sources = new HashMap<>();

  /// @param settings that the endpoint was started with
  /// @param own takes over what no engine knows, without the log's level; throws SettingsException for what cannot be used, and has changed
  ///     nothing then
  Reload(
      Settings settings,
      Source source,
      EngineFactory factory,
      Engine engine,
      Consumer<Settings> own) {
    this.source = source;
    this.factory = factory;
    this.engine = engine;
    this.own = own;
    running = new LinkedHashMap<>(settings.all());
    running.keySet().forEach(key -> sources.put(key, settings.source(key)));
    host = new AutoSettings(settings.dataDirectory(), source);
    show(settings);
  }

  /// Reads the settings again and takes over what can be changed.
  ///
  /// @param overrides settings that come after those that are read; until the next time
  /// @return what has become of each setting that is another one now, a line each
  /// @throws SettingsException for what cannot be used; nothing is changed then
  synchronized List<String> run(Map<String, String> overrides) throws IOException {
    Settings wanted = source.read();
    overrides.forEach(wanted::set);
    Level level = level(wanted);
    List<String> said = new ArrayList<>();
    Map<String, String> after = new LinkedHashMap<>(running);
    wanted
        .all()
        .forEach((key, value) -> {
          String now = running.getOrDefault(key, "");
          if (value.equals(now)) {
            return;
          }
          if (isChangeable(key)) {
            after.put(key, value);
            sources.put(key, overrides.containsKey(key) ? "reload" : wanted.source(key));
            said.add("%s is %s, was %s".formatted(key, value, now));
          } else {
            said.add(
                "%s stays %s until the endpoint is started again, and will be %s"
                    .formatted(key, shown(now), shown(value)));
          }
        });
    if (!after.equals(running)) {
      own.accept(wanted); // first: it refuses what it cannot use
      factory.change(engine, wanted);
      Logging.level(level);
      running.putAll(after);
    }
    show(wanted);
    return said;
  }

  private boolean isChangeable(String key) {
    return factory.changeable().contains(key) || OWN.contains(key);
  }

  /// @param wanted values that were read last
  private void show(Settings wanted) {
    Map<String, String> defaults = Settings.defaults().all();
    Map<String, String> next = wanted.all();
    List<ShownSetting> shown = new ArrayList<>();
    running.forEach((key, value) -> {
      String after = next.getOrDefault(key, value);
      shown.add(
          new ShownSetting(
              key,
              value,
              "See kakehashi.conf.",
              defaults.getOrDefault(key, ""),
              sources.getOrDefault(key, Settings.DEFAULT),
              isChangeable(key),
              isChangeable(key) || after.equals(value) ? null : after,
              Setting.isConfidential(key)));
    });
    factory.show(engine, shown, host);
  }

  private static String shown(String value) {
    return value.isEmpty() ? "empty" : value;
  }

  private static Level level(Settings settings) {
    return Level.toLevel(settings.text(Setting.LOG_LEVEL), Level.INFO);
  }

  /// On a signal: what is said goes to the log.
  void runForSignal() {
    try {
      List<String> said = run(Map.of());
      LOG.info("settings were read again{}", said.isEmpty() ? ": all are as before" : "");
      said.forEach(line -> LOG.info("settings: {}", line));
    } catch (IOException | RuntimeException e) {
      LOG.error("settings could not be read again, all are as before: {}", Main.reason(e));
    }
  }
}
