package dev.kakehashi.application;

/// The engine refused something. A transaction has failed with it: only a rollback to a savepoint, or its end, helps.
public class EngineFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String sqlstate;

  public EngineFailure(String sqlstate, String message, Throwable cause) {
    super(message, cause);
    this.sqlstate = sqlstate;
  }

  /// As PostgreSQL has it, such as 23505 of a key that is there already.
  public String sqlstate() {
    return sqlstate;
  }
}
