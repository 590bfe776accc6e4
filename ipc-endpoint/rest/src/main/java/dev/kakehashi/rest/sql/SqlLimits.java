package dev.kakehashi.rest.sql;

/// Bounds of one statement.
///
/// @param statementBytes of its text in UTF-8
/// @param parameterBytes of its parameters as a row batch
/// @param parameterRows for which one request runs it
/// @param batchBytes longest row batch of a result, and so its longest row
/// @param inlineBytes longest result of a job that is answered at once; a longer one is fetched
public record SqlLimits(
    int statementBytes, int parameterBytes, int parameterRows, int batchBytes, long inlineBytes) {
  public static final SqlLimits DEFAULT =
      new SqlLimits(1 << 20, 64 << 20, 100_000, 256 << 20, 16L << 20);
}
