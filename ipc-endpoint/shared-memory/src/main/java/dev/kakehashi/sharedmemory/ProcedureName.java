package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.regex.Pattern;

/// The statement that calls a procedure of a request.
final class ProcedureName {
  /// A name with or without schema, each part plain or quoted.
  private static final Pattern NAME =
      Pattern.compile(
          "(?:[\\p{L}_][\\p{L}\\p{N}_$]*|\"(?:[^\"\\x00]|\"\")+\")"
              + "(?:\\.(?:[\\p{L}_][\\p{L}\\p{N}_$]*|\"(?:[^\"\\x00]|\"\")+\"))?");

  private ProcedureName() {}

  /// `CALL name($1, $2)`.
  ///
  /// @throws EngineException INVALID_NAME: it is no name of a procedure
  static String call(String name, int parameters) {
    if (!NAME.matcher(name).matches()) {
      throw new EngineException(
              ErrorCode.INVALID_NAME, "\"" + name + "\" is no name of a procedure")
          .withHint("Write it as in CALL: schema.name, with double quotes where SQL needs them.");
    }
    StringBuilder sql = new StringBuilder("CALL ").append(name).append('(');
    for (int i = 1; i <= parameters; i++) {
      sql.append(i == 1 ? "$" : ", $").append(i);
    }
    return sql.append(')').toString();
  }
}
