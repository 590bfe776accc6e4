package dev.kakehashi.pgwire.wire;

import java.util.HashMap;
import java.util.Map;

/// An ErrorResponse of the server. Carries no stack trace: errors of users are results.
public final class ServerError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Map<Character, String> fields;

  ServerError(Map<Character, String> fields) {
    super(fields.getOrDefault('M', ""), null, false, false);
    this.fields = new HashMap<>(fields);
  }

  /// Five characters.
  public String sqlstate() {
    return fields.getOrDefault('C', "XX000");
  }

  public String detail() {
    return fields.getOrDefault('D', "");
  }

  public String hint() {
    return fields.getOrDefault('H', "");
  }

  public String schemaName() {
    return fields.getOrDefault('s', "");
  }

  public String tableName() {
    return fields.getOrDefault('t', "");
  }

  public String columnName() {
    return fields.getOrDefault('c', "");
  }

  public String constraintName() {
    return fields.getOrDefault('n', "");
  }

  /// Character in the statement, from 1; 0: none.
  public int position() {
    String position = fields.getOrDefault('P', "0");
    try {
      return Integer.parseInt(position);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /// Whether the server ends the connection with it.
  public boolean isFatal() {
    String severity = fields.getOrDefault('V', fields.getOrDefault('S', ""));
    return severity.equals("FATAL") || severity.equals("PANIC");
  }
}
