package dev.kakehashi.server.start;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeAndTimeBasedRollingPolicy;
import ch.qos.logback.core.util.FileSize;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;

/// Logs to `<data directory>/logs` (a file a day, 14 days, 1 GB in all) and to stderr.
public final class Logging {
  private static final String PATTERN =
      "%d{yyyy-MM-dd HH:mm:ss.SSS} %-5level [%thread] %logger{0}: %msg%n";

  public static void configure(Path dataDirectory, Level level) {
    Logger root = configureRoot(level);
    root.addAppender(file(root.getLoggerContext(), dataDirectory.resolve("logs")));
  }

  /// Changes what is logged from now on.
  public static void level(Level level) {
    ((LoggerContext) LoggerFactory.getILoggerFactory())
        .getLogger(Logger.ROOT_LOGGER_NAME)
        .setLevel(level);
  }

  private static Logger configureRoot(Level level) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.reset();
    Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(level);
    root.addAppender(console(context));
    // Chronicle says hello at length.
    context.getLogger("net.openhft").setLevel(Level.WARN);
    return root;
  }

  /// Configures the log of a command that is no endpoint: warnings, to stderr.
  public static void configureCommand() {
    configureRoot(Level.WARN);
  }

  private static Encoder<ILoggingEvent> encoder(LoggerContext context) {
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern(PATTERN);
    encoder.start();
    return encoder;
  }

  private static ConsoleAppender<ILoggingEvent> console(LoggerContext context) {
    ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
    appender.setContext(context);
    appender.setTarget("System.err");
    appender.setEncoder(encoder(context));
    appender.start();
    return appender;
  }

  private static RollingFileAppender<ILoggingEvent> file(LoggerContext context, Path directory) {
    RollingFileAppender<ILoggingEvent> appender = new RollingFileAppender<>();
    appender.setContext(context);
    appender.setEncoder(encoder(context));
    SizeAndTimeBasedRollingPolicy<ILoggingEvent> policy = new SizeAndTimeBasedRollingPolicy<>();
    policy.setContext(context);
    policy.setParent(appender);
    policy.setFileNamePattern(directory.resolve("endpoint-%d{yyyy-MM-dd}.%i.log").toString());
    policy.setMaxFileSize(new FileSize(128 << 20));
    policy.setMaxHistory(14);
    policy.setTotalSizeCap(new FileSize(1 << 30));
    policy.start();
    appender.setRollingPolicy(policy);
    appender.start();
    return appender;
  }

  private Logging() {}
}
