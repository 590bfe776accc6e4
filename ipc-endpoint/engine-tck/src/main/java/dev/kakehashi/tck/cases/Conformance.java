package dev.kakehashi.tck.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.capability.Capabilities;
import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.tck.drive.DrivenEngine;
import dev.kakehashi.tck.drive.EngineUnderTest;
import dev.kakehashi.tck.drive.RunningStatement;
import java.util.Arrays;
import java.util.List;

/// Base of every case: an open engine and clients of it.
public interface Conformance {
  /// A query without rows that runs for hours if nobody ends it.
  String ENDLESS =
      "select a from generate_series(1, 100000) a, generate_series(1, 100000000) b where a + b < 0";

  EngineUnderTest underTest();

  /// Capabilities that the engine states.
  Capabilities capabilities();

  /// Isolation levels that the engine has, of those given; none given: of all.
  default List<Isolation> levels(Isolation... some) {
    return Arrays.stream(some.length == 0 ? Isolation.values() : some)
        .filter(each -> capabilities().has(Capability.valueOf(each.name())))
        .toList();
  }

  /// The client of the case.
  DrivenEngine client();

  /// One more client; closed after the case.
  DrivenEngine another();

  /// One more client; closed after the case.
  ///
  /// @param owner of its prepared transactions
  DrivenEngine another(String userName, String owner);

  /// Makes an empty table with a name of its own.
  ///
  /// @param columns in parentheses of CREATE TABLE
  /// @return its name
  String table(String columns);

  /// A name that no object has.
  String freshName();

  /// Closes the engine and opens it again. Clients of before are gone.
  void restart() throws Exception;

  /// Asserts that an operation fails.
  ///
  /// @return its failure
  default EngineException refused(String sqlstate, Runnable operation) {
    EngineException failure = DrivenEngine.failureOf(operation);
    assertEquals(sqlstate, failure.sqlstate(), failure.getMessage());
    return failure;
  }

  /// Asserts that a statement that runs fails.
  default EngineException refused(String sqlstate, RunningStatement statement) {
    return refused(sqlstate, () -> statement.await());
  }
}
