package dev.kakehashi.applications.watch;

import dev.kakehashi.application.ApplicationException;
import dev.kakehashi.application.CodeGuard;
import dev.kakehashi.application.EngineFailure;
import dev.kakehashi.engine.api.application.ApplicationSystem.ApplicationFailure;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes errors of what a version's code throws, and keeps their stacks. Thread-safe.
///
/// An error holds texts alone: an exception of users' code would hold its class loader.
public final class UserFailures {
  private static final Logger LOG = LoggerFactory.getLogger(UserFailures.class);
  private static final int MAX_MESSAGE = 2_000;
  private static final int MAX_STACK = 16 << 10;
  private static final int MAX_CAUSES = 8;

  private final ApplicationJournal journal;
  private final String application;
  private final int version;

  /// @param application with its schema
  public UserFailures(ApplicationJournal journal, String application, int version) {
    this.journal = journal;
    this.application = application;
    this.version = version;
  }

  public ApplicationJournal journal() {
    return journal;
  }

  public String application() {
    return application;
  }

  public int version() {
    return version;
  }

  /// The error of an exception, with a line in the log and an entry in the ring.
  ///
  /// @param member as `procedure place`
  /// @param call its number; 0: none
  public EngineException report(String member, long call, Throwable thrown) {
    EngineException error = error(thrown);
    String stack = stack(thrown);
    LOG.warn(
        "application {} version {}, {}{} failed: {} {}\n{}",
        application,
        version,
        member,
        call == 0 ? "" : ", call " + call,
        error.sqlstate(),
        error.getMessage(),
        stack);
    journal.add(
        new ApplicationFailure(
            System.currentTimeMillis(),
            application,
            version,
            member,
            call,
            error.sqlstate(),
            String.valueOf(error.getMessage()),
            stack));
    return error;
  }

  /// Error that a caller gets for an exception.
  public static EngineException error(Throwable thrown) {
    return switch (thrown) {
      case EngineException ours -> ours;
      case EngineFailure engine when engine.getCause() instanceof EngineException its -> its;
      case EngineFailure engine -> raised(engine.sqlstate(), text(engine));
      case ApplicationException own -> raised(own.sqlstate(), text(own));
      case StackOverflowError e ->
          new EngineException(
              ErrorCode.LIMIT_EXCEEDED, "stack depth limit exceeded by an application");
      case OutOfMemoryError e ->
          new EngineException(
              ErrorCode.OUT_OF_MEMORY, "an application needs more memory: " + text(e));
      case CodeGuard.Stopped e ->
          new EngineException(ErrorCode.QUERY_CANCELED, "the call was canceled");
      default ->
          new EngineException(
              ErrorCode.RAISE_EXCEPTION, thrown.getClass().getName() + ": " + text(thrown));
    };
  }

  private static EngineException raised(String sqlstate, String message) {
    return new EngineException(ErrorCode.RAISE_EXCEPTION, message).withSqlstate(sqlstate);
  }

  /// Its message, which users' code makes.
  public static String text(Throwable thrown) {
    String message;
    try {
      message = String.valueOf(thrown.getMessage());
    } catch (Throwable e) {
      message = "its message failed with " + e.getClass().getName();
    }
    return message.length() > MAX_MESSAGE ? message.substring(0, MAX_MESSAGE) : message;
  }

  /// At most 16 kB.
  private static String stack(Throwable thrown) {
    StringBuilder stack = new StringBuilder();
    Throwable next = thrown;
    for (int causes = 0; next != null && causes < MAX_CAUSES; causes++) {
      stack
          .append(causes == 0 ? "" : "Caused by: ")
          .append(next.getClass().getName())
          .append(": ")
          .append(text(next));
      for (StackTraceElement frame : next.getStackTrace()) {
        if (stack.length() > MAX_STACK) {
          break;
        }
        stack.append("\n\tat ").append(frame);
      }
      stack.append('\n');
      next = causeOf(next);
    }
    return stack.length() > MAX_STACK ? stack.substring(0, MAX_STACK) : stack.toString();
  }

  private static @Nullable Throwable causeOf(Throwable thrown) {
    try {
      return thrown.getCause();
    } catch (Throwable e) {
      return e;
    }
  }
}
