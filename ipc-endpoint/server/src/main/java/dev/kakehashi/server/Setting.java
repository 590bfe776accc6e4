package dev.kakehashi.server;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/// Every setting of the endpoint, with its default and range. `kakehashi.conf` documents them; a test keeps both equal.
enum Setting {
  INSTANCE(Kind.TEXT, "main", 0, 0),
  DATA_DIRECTORY(Kind.PATH, "data", 0, 0),
  RUNTIME_DIRECTORY(Kind.PATH, "", 0, 0),
  GROUP(Kind.TEXT, "", 0, 0),
  ALLOWED_USERS(Kind.TEXT, "", 0, 0),
  AUTHENTICATION(Kind.TEXT, "peer", 0, 0),
  ENGINE(Kind.TEXT, "embedded", 0, 0),
  WORKER_THREADS(Kind.COUNT, "0", 0, 1024),
  MEMORY(Kind.BYTES, "1GB", 16L << 20, 1L << 50),
  STATEMENT_MEMORY(Kind.BYTES, "256MB", 1L << 20, 1L << 50),
  DIRECT_READS(Kind.TEXT, "on", 0, 0),
  DIRECT_READ_USERS(Kind.TEXT, "", 0, 0),
  TEMP_SPACE(Kind.BYTES, "16GB", 0, 1L << 50),
  ARCHIVE(Kind.TEXT, "off", 0, 0),
  ARCHIVE_SIZE(Kind.BYTES, "1GB", 1L << 20, 1L << 50),
  ARCHIVE_LOCATION(Kind.TEXT, "", 0, 0),
  ARCHIVE_INTERVAL(Kind.DURATION, "10s", 100_000_000L, 86_400_000_000_000L),
  ARCHIVE_BACKLOG(Kind.BYTES, "16GB", 16L << 20, 1L << 50),
  PRIMARY(Kind.TEXT, "", 0, 0),
  PRIMARY_USER(Kind.TEXT, "", 0, 0),
  PRIMARY_PASSWORD_FILE(Kind.TEXT, "", 0, 0),
  PRIMARY_TLS_AUTHORITY(Kind.TEXT, "", 0, 0),
  STANDBY_NAME(Kind.TEXT, "", 0, 0),
  SYNCHRONOUS_STANDBY(Kind.TEXT, "", 0, 0),
  SYNCHRONOUS_LEVEL(Kind.TEXT, "stored", 0, 0),
  SYNCHRONOUS_AWAY(Kind.TEXT, "wait", 0, 0),
  SYNCHRONOUS_PATIENCE(Kind.DURATION, "10s", 1_000_000L, 86_400_000_000_000L),
  STANDBY_BACKLOG(Kind.BYTES, "16GB", 16L << 20, 1L << 50),
  STANDBY_CONFLICT_DELAY(Kind.DURATION, "30s", 0, 86_400_000_000_000L),
  MAX_SESSIONS(Kind.COUNT, "1000", 1, 65_535),
  MAX_USER_SESSIONS(Kind.COUNT, "0", 0, 65_535),
  STOP_LIMIT(Kind.DURATION, "45s", 1_000_000_000L, 3_600_000_000_000L),
  MAX_STATEMENTS(Kind.COUNT, "1024", 1, 65_536),
  MAX_TRANSACTIONS(Kind.COUNT, "4096", 1, 65_536),
  LEASE(Kind.DURATION, "15min", 100_000_000L, 86_400_000_000_000L),
  MAX_LEASE(Kind.DURATION, "24h", 100_000_000L, 31L * 86_400_000_000_000L),
  LOCK_TIMEOUT(Kind.DURATION, "0s", 0, 86_400_000_000_000L),
  IDLE_IN_TRANSACTION_TIMEOUT(Kind.DURATION, "0s", 0, 86_400_000_000_000L),
  IDLE_IN_TRANSACTION_TIMEOUT_ROLES(Kind.TEXT, "", 0, 0),
  TIME_ZONE(Kind.TEXT, "UTC", 0, 0),
  OUTCOMES_KEPT(Kind.COUNT, "65536", 128, 1 << 24),
  OUTCOME_RETENTION(Kind.DURATION, "7d", 1_000_000_000L, 3650L * 86_400_000_000_000L),
  SLOTS_PER_SESSION(Kind.COUNT, "4096", 1, 4096),
  FRAME_AREA_BYTES(Kind.BYTES, "15kB", 2048, 16 << 20),
  INLINE_BYTES(Kind.BYTES, "16kB", 1024, 1 << 20),
  CHANNEL_WINDOW(Kind.COUNT, "16", 2, 1024),
  ARENA_BLOCK_BYTES(Kind.BYTES, "64kB", 4096, 16 << 20),
  BATCH_BYTES(Kind.BYTES, "256kB", 4096, 1 << 30),
  MAX_BATCH_BYTES(Kind.BYTES, "256MB", 4096, 1 << 30),
  SESSION_BUFFERS(Kind.BYTES, "512MB", 8192, 1L << 40),
  USER_BUFFERS(Kind.BYTES, "1GB", 8192, 1L << 40),
  RETAINED_BUFFERS(Kind.BYTES, "32MB", 0, 1L << 40),
  QUEUE_BLOCK_BYTES(Kind.BYTES, "4MB", 256 << 10, 1 << 30),
  MAX_FRAME_BYTES(Kind.BYTES, "64kB", 4096, 128 << 20),
  QUEUES_PER_USER(Kind.COUNT, "8", 1, 64),
  CLIENT_SPIN(Kind.DURATION, "200us", 0, 10_000_000L),
  MIN_SPIN(Kind.DURATION, "50us", 0, 10_000_000L),
  MAX_SPIN(Kind.DURATION, "200us", 0, 10_000_000L),
  ATTACH_TIMEOUT(Kind.DURATION, "5s", 10_000_000L, 600_000_000_000L),
  SESSION_RATE(Kind.COUNT, "0", 0, 10_000_000),
  SESSION_BUCKET_SIZE(Kind.COUNT, "0", 0, 10_000_000),
  SESSION_MAX_CONCURRENT_REQUESTS(Kind.COUNT, "0", 0, 65_536),
  HTTP_PORT(Kind.TEXT, "off", 0, 0),
  HTTP_SOCKET(Kind.TEXT, "off", 0, 0),
  HTTP_SOCKET_MODE(Kind.TEXT, "0600", 0, 0),
  HTTP_TLS(Kind.TEXT, "off", 0, 0),
  HTTP_TLS_CERTIFICATE(Kind.TEXT, "", 0, 0),
  HTTP_TLS_KEY(Kind.TEXT, "", 0, 0),
  HTTP_TLS_CLIENT_AUTHORITY(Kind.TEXT, "", 0, 0),
  HTTP_TLS_CLIENT_CERTIFICATE(Kind.TEXT, "optional", 0, 0),
  HTTP_HOSTS(Kind.TEXT, "", 0, 0),
  HTTP_METRICS(Kind.TEXT, "role", 0, 0),
  HTTP_CONSOLE(Kind.TEXT, "off", 0, 0),
  HTTP_HEADER_BYTES(Kind.BYTES, "16kB", 1 << 10, 1 << 20),
  HTTP_STATEMENT_BYTES(Kind.BYTES, "1MB", 1 << 10, 4 << 20),
  HTTP_CONNECTIONS(Kind.COUNT, "2000", 1, 65_535),
  HTTP_ADDRESS_CONNECTIONS(Kind.COUNT, "500", 1, 65_535),
  HTTP_USER_REQUESTS(Kind.COUNT, "100", 1, 65_535),
  HTTP_IDLE_TIMEOUT(Kind.DURATION, "30s", 1_000_000_000L, 3_600_000_000_000L),
  HTTP_BODY_RATE(Kind.BYTES, "1000B", 0, 1 << 30),
  HTTP_ANSWER_MEMORY(Kind.BYTES, "256MB", 1 << 20, 1L << 40),
  HTTP_INLINE_BYTES(Kind.BYTES, "16MB", 0, 1L << 40),
  HTTP_TOKEN_LIFETIME(Kind.DURATION, "1h", 1_000_000_000L, 31L * 86_400_000_000_000L),
  HTTP_RESULT_SPACE(Kind.BYTES, "64GB", 1 << 20, 1L << 50),
  HTTP_USER_RESULT_SPACE(Kind.BYTES, "16GB", 1 << 20, 1L << 50),
  HTTP_RESULT_FILE_BYTES(Kind.BYTES, "1GB", 1 << 20, 1L << 40),
  HTTP_RESULT_RETENTION(Kind.DURATION, "1h", 1_000_000_000L, 366L * 86_400_000_000_000L),
  HTTP_KEY_RETENTION(Kind.DURATION, "1d", 1_000_000_000L, 366L * 86_400_000_000_000L),
  HTTP_JOBS(Kind.COUNT, "10000", 1, 1 << 20),
  HTTP_USER_JOBS(Kind.COUNT, "1000", 1, 1 << 20),
  HTTP_USER_RUNNING_JOBS(Kind.COUNT, "4", 1, 4096),
  BULK_LOCATIONS(Kind.TEXT, "", 0, 0),
  BULK_UPLOAD_SPACE(Kind.BYTES, "64GB", 1 << 20, 1L << 50),
  BULK_USER_UPLOAD_SPACE(Kind.BYTES, "16GB", 1 << 20, 1L << 50),
  BULK_UPLOAD_RETENTION(Kind.DURATION, "1h", 1_000_000_000L, 366L * 86_400_000_000_000L),
  QUEUE_PUSH_TARGETS(Kind.TEXT, "", 0, 0),
  APPLICATION_USER(Kind.TEXT, "", 0, 0),
  APPLICATION_CGROUP(Kind.TEXT, "", 0, 0),
  PGWIRE_ADDRESSES(Kind.TEXT, "localhost:5432", 0, 0),
  PGWIRE_DATABASE(Kind.TEXT, "kakehashi", 0, 0),
  PGWIRE_USER(Kind.TEXT, "kakehashi", 0, 0),
  PGWIRE_PASSWORD_FILE(Kind.TEXT, "", 0, 0),
  PGWIRE_TLS(Kind.TEXT, "disable", 0, 0),
  PGWIRE_TLS_AUTHORITY(Kind.TEXT, "", 0, 0),
  PGWIRE_CONNECTIONS(Kind.COUNT, "50", 1, 10_000),
  PGWIRE_ROW_LIMIT(Kind.BYTES, "0B", 0, 1L << 30),
  PGWIRE_TRANSACTION_LIMIT(Kind.BYTES, "0B", 0, 1L << 50),
  PGWIRE_CONNECT_TIMEOUT(Kind.DURATION, "5s", 100_000_000L, 600_000_000_000L),
  PGWIRE_OPERATION_TIMEOUT(Kind.DURATION, "10s", 100_000_000L, 3_600_000_000_000L),
  PGWIRE_FAILOVER_WINDOW(Kind.DURATION, "30s", 1_000_000_000L, 3_600_000_000_000L),
  PGWIRE_NODE_ISOLATION(Kind.TEXT, "refuse", 0, 0),
  LOG_LEVEL(Kind.TEXT, "info", 0, 0);

  /// How a value is written.
  enum Kind {
    TEXT,
    PATH,
    /// An integer.
    COUNT,
    /// An integer with B, kB, MB, GB or TB (powers of 1024, as PostgreSQL counts).
    BYTES,
    /// An integer with ns, us, ms, s, min, h or d; in nanoseconds here.
    DURATION
  }

  /// Settings that tell of the machine: places of files, addresses, OS users.
  private static final Set<Setting> CONFIDENTIAL =
      EnumSet.of(
          DATA_DIRECTORY,
          RUNTIME_DIRECTORY,
          GROUP,
          ALLOWED_USERS,
          DIRECT_READ_USERS,
          HTTP_SOCKET,
          HTTP_TLS_CERTIFICATE,
          HTTP_TLS_KEY,
          HTTP_TLS_CLIENT_AUTHORITY,
          BULK_LOCATIONS,
          ARCHIVE_LOCATION,
          PRIMARY,
          PRIMARY_USER,
          PRIMARY_PASSWORD_FILE,
          PRIMARY_TLS_AUTHORITY,
          QUEUE_PUSH_TARGETS,
          APPLICATION_USER,
          APPLICATION_CGROUP,
          PGWIRE_ADDRESSES,
          PGWIRE_USER,
          PGWIRE_PASSWORD_FILE,
          PGWIRE_TLS_AUTHORITY);

  private final Kind kind;
  private final String defaultValue;
  private final long min;
  private final long max;

  Setting(Kind kind, String defaultValue, long min, long max) {
    this.kind = kind;
    this.defaultValue = defaultValue;
    this.min = min;
    this.max = max;
  }

  /// Name in the file.
  String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Whether SQL shows the setting to superusers and members of `pg_read_all_settings` alone.
  static boolean isConfidential(String key) {
    return CONFIDENTIAL.stream().anyMatch(each -> each.key().equals(key));
  }

  Kind kind() {
    return kind;
  }

  String defaultValue() {
    return defaultValue;
  }

  /// The number of a value.
  ///
  /// @throws SettingsException when it is none, or out of range
  long parse(String text) {
    long value =
        switch (kind) {
          case COUNT -> number(key(), text, text, 1);
          case BYTES -> bytes(text);
          case DURATION -> duration(key(), text);
          case TEXT, PATH -> throw new IllegalStateException(key() + " is no number");
        };
    if (value < min || value > max) {
      throw new SettingsException(
          "\"%s\" cannot be %s: it has to be between %s and %s"
              .formatted(key(), text, show(min), show(max)));
    }
    return value;
  }

  private String show(long value) {
    return switch (kind) {
      case COUNT, TEXT, PATH -> Long.toString(value);
      case BYTES -> value + "B";
      case DURATION -> value + "ns";
    };
  }

  private long bytes(String text) {
    return switch (unit(text)) {
      case "B" -> number(key(), text, value(text), 1);
      case "kB" -> number(key(), text, value(text), 1L << 10);
      case "MB" -> number(key(), text, value(text), 1L << 20);
      case "GB" -> number(key(), text, value(text), 1L << 30);
      case "TB" -> number(key(), text, value(text), 1L << 40);
      default -> throw invalid(key(), text, "a number with B, kB, MB, GB or TB");
    };
  }

  /// Nanoseconds of a time with its unit.
  ///
  /// @throws SettingsException naming the key
  static long duration(String key, String text) {
    return switch (unit(text)) {
      case "ns" -> number(key, text, value(text), 1);
      case "us" -> number(key, text, value(text), 1_000);
      case "ms" -> number(key, text, value(text), 1_000_000);
      case "s" -> number(key, text, value(text), 1_000_000_000L);
      case "min" -> number(key, text, value(text), 60_000_000_000L);
      case "h" -> number(key, text, value(text), 3_600_000_000_000L);
      case "d" -> number(key, text, value(text), 86_400_000_000_000L);
      default -> throw invalid(key, text, "a number with ns, us, ms, s, min, h or d");
    };
  }

  private static String unit(String text) {
    return text.replaceFirst("^[0-9]+ *", "");
  }

  private static String value(String text) {
    return text.replaceFirst("[^0-9].*$", "");
  }

  private static long number(String key, String text, String digits, long factor) {
    try {
      return Math.multiplyExact(Long.parseLong(digits), factor);
    } catch (NumberFormatException | ArithmeticException e) {
      throw invalid(key, text, "a number");
    }
  }

  private static SettingsException invalid(String key, String text, String expected) {
    return new SettingsException(
        "\"%s\" cannot be \"%s\": it has to be %s".formatted(key, text, expected));
  }
}
