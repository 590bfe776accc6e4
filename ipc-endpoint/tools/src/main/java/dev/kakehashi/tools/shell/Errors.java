package dev.kakehashi.tools.shell;

import dev.kakehashi.client.EndpointException;
import dev.kakehashi.protocol.Failure;
import dev.kakehashi.tools.shell.print.Pointer;

/// Errors as psql prints them.
final class Errors {
  private Errors() {}

  /// @param sql the statement, or empty
  static String text(EndpointException failed, String sql, String verbosity) {
    Failure failure = failed.failure();
    if (verbosity.equals("sqlstate")) {
      return "ERROR:  " + failed.sqlstate() + "\n";
    }
    StringBuilder text = new StringBuilder(failure.fatal() ? "FATAL:  " : "ERROR:  ");
    if (verbosity.equals("verbose")) {
      text.append(failed.sqlstate()).append(": ");
    }
    text.append(failed.getMessage()).append('\n');
    if (failure.position() > 0 && !sql.isEmpty()) {
      text.append(Pointer.to(sql, failure.position()));
    }
    if (!verbosity.equals("terse")) {
      if (!failure.detail().isEmpty()) {
        text.append("DETAIL:  ").append(failure.detail()).append('\n');
      }
      if (!failure.hint().isEmpty()) {
        text.append("HINT:  ").append(failure.hint()).append('\n');
      }
    }
    return text.toString();
  }
}
