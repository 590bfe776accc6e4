package dev.kakehashi.server;

import dev.kakehashi.protocol.NearestWord;
import dev.kakehashi.requests.IdleLimits;
import dev.kakehashi.transport.TransportConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/// Settings of one endpoint: lines `key = value`, `#` begins a comment. Unknown keys are refused.
public final class Settings {
  private static final Map<String, String> SCHEDULER_DEFAULTS = SchedulerSettings.defaults();

  /// Where values come from.
  static final String DEFAULT = "default";

  static final String FILE = "configuration file";
  static final String SYSTEM = "alter system";
  static final String OPTION = "command line";

  private final Map<Setting, String> values = new EnumMap<>(Setting.class);
  private final Map<String, String> schedulerValues = new LinkedHashMap<>();

  private final Map<String, String> sources = new HashMap<>();
  private String source = OPTION;

  private Settings() {}

  /// The defaults.
  public static Settings defaults() {
    return new Settings();
  }

  /// The same, to be changed.
  Settings copy() {
    Settings copy = new Settings();
    copy.values.putAll(values);
    copy.schedulerValues.putAll(schedulerValues);
    copy.sources.putAll(sources);
    return copy;
  }

  /// Reads a file.
  ///
  /// @throws SettingsException naming file and line
  public static Settings read(Path file) throws IOException {
    Settings settings = new Settings();
    settings.include(file, FILE);
    return settings;
  }

  /// Takes the lines of a file.
  ///
  /// @param from where its values come from, for people
  /// @throws SettingsException naming file and line
  void include(Path file, String from) throws IOException {
    source = from;
    eachLine(file, this::set);
    source = OPTION;
  }

  /// Keys and values of a file, unchecked.
  static Map<String, String> lines(Path file) throws IOException {
    Map<String, String> found = new LinkedHashMap<>();
    eachLine(file, found::put);
    return found;
  }

  private static void eachLine(Path file, BiConsumer<String, String> taker) throws IOException {
    List<String> lines = Files.readAllLines(file);
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).replaceFirst("(^|\\s)#.*$", "").trim();
      if (line.isEmpty()) {
        continue;
      }
      try {
        int equals = line.indexOf('=');
        if (equals < 0) {
          throw new SettingsException("\"" + line + "\" is not of the form key = value");
        }
        taker.accept(line.substring(0, equals).trim(), line.substring(equals + 1).trim());
      } catch (SettingsException e) {
        throw new SettingsException("%s:%d: %s".formatted(file, i + 1, e.getMessage()));
      }
    }
  }

  /// Where the value of a setting comes from.
  String source(String key) {
    return sources.getOrDefault(key, DEFAULT);
  }

  /// Sets one value, as a line of the file or an option `--set key=value` does.
  ///
  /// @throws SettingsException for an unknown key, with the nearest one, or a bad value
  public Settings set(String key, String value) {
    if (SCHEDULER_DEFAULTS.containsKey(key)) {
      SchedulerSettings.check(key, value);
      schedulerValues.put(key, value);
      sources.put(key, source);
      return this;
    }
    Setting setting = find(key);
    switch (setting.kind()) {
      case TEXT, PATH -> {}
      case COUNT, BYTES, DURATION -> {
        long ignored = setting.parse(value);
      }
    }
    values.put(setting, value);
    sources.put(key, source);
    return this;
  }

  private static Setting find(String key) {
    List<String> keys = new ArrayList<>(SCHEDULER_DEFAULTS.keySet());
    for (Setting setting : Setting.values()) {
      if (setting.key().equals(key)) {
        return setting;
      }
      keys.add(setting.key());
    }
    String nearest =
        Collections.min(keys, Comparator.comparingInt(known -> NearestWord.distance(known, key)));
    // A key of which more than half is wrong is another word.
    String hint =
        2 * NearestWord.distance(nearest, key) <= key.length()
            ? "did you mean \"%s\"?".formatted(nearest)
            : "kakehashi.conf lists all settings";
    throw new SettingsException("unknown setting \"%s\"; %s".formatted(key, hint));
  }

  /// Values of all settings, by key.
  Map<String, String> all() {
    Map<String, String> all = new LinkedHashMap<>();
    for (Setting setting : Setting.values()) {
      all.put(setting.key(), text(setting));
    }
    all.putAll(SCHEDULER_DEFAULTS);
    all.putAll(schedulerValues);
    return all;
  }

  String text(Setting setting) {
    return values.getOrDefault(setting, setting.defaultValue());
  }

  long number(Setting setting) {
    return setting.parse(text(setting));
  }

  int count(Setting setting) {
    return Math.toIntExact(number(setting));
  }

  /// How long transactions may be idle.
  ///
  /// @throws SettingsException if a user's time cannot be read
  IdleLimits idleLimits() {
    Setting setting = Setting.IDLE_IN_TRANSACTION_TIMEOUT_ROLES;
    Map<String, Long> ofUsers = new HashMap<>();
    for (String entry : list(setting)) {
      int end = entry.lastIndexOf('=');
      String user = end < 0 ? "" : entry.substring(0, end).strip();
      if (user.isEmpty()) {
        throw new SettingsException(
            "\"%s\": \"%s\" is no role=time, as web=30s".formatted(setting.key(), entry));
      }
      long nanos = Setting.IDLE_IN_TRANSACTION_TIMEOUT.parse(entry.substring(end + 1).strip());
      if (ofUsers.put(user, nanos) != null) {
        throw new SettingsException(
            "\"%s\": \"%s\" stands there twice".formatted(setting.key(), user));
      }
    }
    return new IdleLimits(number(Setting.IDLE_IN_TRANSACTION_TIMEOUT), ofUsers);
  }

  Duration duration(Setting setting) {
    return Duration.ofNanos(number(setting));
  }

  /// Where everything durable is.
  public Path dataDirectory() {
    return Path.of(text(Setting.DATA_DIRECTORY)).toAbsolutePath();
  }

  /// Where everything of this run is.
  public Path runtimeDirectory() {
    String path = text(Setting.RUNTIME_DIRECTORY);
    return path.isEmpty()
        ? Path.of("/dev/shm/kakehashi", text(Setting.INSTANCE))
        : Path.of(path).toAbsolutePath();
  }

  /// Memory of the engine's store, in bytes.
  public long memoryBytes() {
    return number(Setting.MEMORY);
  }

  /// Worker threads; 0: one per processor.
  public int workerThreads() {
    return count(Setting.WORKER_THREADS);
  }

  /// Parameters of the scheduler that were set, by key; see [SchedulerSettings].
  Map<String, String> schedulerValues() {
    return schedulerValues;
  }

  /// Limits of the transport.
  ///
  /// @throws SettingsException when settings contradict each other
  TransportConfig transport(String version) {
    try {
      int window = count(Setting.CHANNEL_WINDOW);
      int head = (384 + 32 * window + 63) & ~63;
      int frame = (count(Setting.FRAME_AREA_BYTES) + 63) & ~63;
      int inline = (count(Setting.INLINE_BYTES) + 63) & ~63;
      // A slot is whole pages, so that a mailbox is.
      int slot = (head + frame + inline + 4095) & ~4095;
      return new TransportConfig(
          runtimeDirectory(),
          version,
          new TransportConfig.Mailbox(
              count(Setting.SLOTS_PER_SESSION), head, slot - head - inline, inline, window),
          new TransportConfig.Buffers(
              count(Setting.ARENA_BLOCK_BYTES),
              count(Setting.BATCH_BYTES),
              maxBatchBytes(),
              number(Setting.USER_BUFFERS),
              sessionBytes(),
              number(Setting.RETAINED_BUFFERS)),
          new TransportConfig.Queue(
              count(Setting.QUEUE_BLOCK_BYTES),
              count(Setting.MAX_FRAME_BYTES),
              count(Setting.QUEUES_PER_USER)),
          new TransportConfig.Sessions(
              count(Setting.MAX_SESSIONS),
              count(Setting.MAX_USER_SESSIONS),
              count(Setting.MAX_STATEMENTS),
              duration(Setting.CLIENT_SPIN),
              duration(Setting.LEASE),
              duration(Setting.ATTACH_TIMEOUT)),
          new TransportConfig.Access(text(Setting.GROUP), list(Setting.ALLOWED_USERS)),
          new TransportConfig.Polling(duration(Setting.MIN_SPIN), duration(Setting.MAX_SPIN)));
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new SettingsException("settings contradict each other: " + e.getMessage());
    }
  }

  /// Longest batch: if only buffers are set, it is as long as they allow.
  private int maxBatchBytes() {
    int bytes = count(Setting.MAX_BATCH_BYTES);
    if (values.containsKey(Setting.MAX_BATCH_BYTES)) {
      return bytes;
    }
    long allowed =
        Math.min(number(Setting.SESSION_BUFFERS), number(Setting.USER_BUFFERS)) / 2 & ~7L;
    return Math.clamp(allowed, Math.min(count(Setting.BATCH_BYTES), bytes), bytes);
  }

  private long sessionBytes() {
    long bytes = number(Setting.SESSION_BUFFERS);
    return values.containsKey(Setting.SESSION_BUFFERS)
        ? bytes
        : Math.min(bytes, number(Setting.USER_BUFFERS));
  }

  List<String> list(Setting setting) {
    List<String> items = new ArrayList<>();
    for (String item : text(setting).split(",", -1)) {
      if (!item.isBlank()) {
        items.add(item.trim());
      }
    }
    return items;
  }
}
