package dev.kakehashi.rest.problem;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

final class ProblemTest {
  private static String json(Problem problem) {
    return new String(problem.toJson(), StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @CsvSource({
    "SYNTAX_ERROR, 400", "INSUFFICIENT_PRIVILEGE, 403", "UNIQUE_VIOLATION, 422",
        "DIVISION_BY_ZERO, 422", "SERIALIZATION_FAILURE, 409", "DEADLOCK_DETECTED, 409",
    "INVALID_PASSWORD, 401", "DISK_FULL, 507", "TOO_MANY_SESSIONS, 503", "LIMIT_EXCEEDED, 413",
        "QUERY_CANCELED, 409", "FEATURE_NOT_SUPPORTED, 501",
    "LOCK_NOT_AVAILABLE, 409", "INTERNAL_ERROR, 500", "NO_SUCH_TRANSACTION, 404",
        "SHUTTING_DOWN, 503"
  })
  void shouldHaveTheStatusOfItsClass(ErrorCode code, int status) {
    Problem problem = Problem.of(new EngineException(code, "x"));

    assertEquals(status, problem.status());
    assertEquals(code.sqlstate(), problem.sqlstate());
    assertEquals(code.retryable(), problem.retryable());
  }

  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void shouldTakeEachError(ErrorCode code) {
    Problem problem = Problem.of(new EngineException(code, "x"));

    assertTrue(problem.status() >= 400 && problem.status() <= 599);
    assertTrue(json(problem).contains("\"sqlstate\":\"" + code.sqlstate() + "\""));
  }

  @Test
  void shouldHaveAllFieldsOfTheEngine() {
    Problem problem =
        Problem.of(
                new EngineException(ErrorCode.CHECK_VIOLATION, "no \"good\"")
                    .withDetail("row (1)")
                    .withHint("try 2")
                    .withTable("s", "t")
                    .withColumn("c")
                    .withConstraint("k")
                    .withPosition(7))
            .withTransaction("tx")
            .withJob("jb");

    assertEquals(
        "{\"type\":\"tag:kakehashi.dev,2026:check-violation\",\"title\":\"Check violation\",\"status\":422,\"detail\":\"no \\\"good\\\"\",\"sqlstate\":\"23514\","
            + "\"sqlDetail\":\"row (1)\",\"hint\":\"try 2\",\"schema\":\"s\",\"table\":\"t\",\"column\":\"c\",\"constraint\":\"k\",\"transaction\":\"tx\",\"job\":\"jb\","
            + "\"position\":7,\"retryable\":false}",
        json(problem));
  }

  @Test
  void shouldTellOfTimeoutsByTheirStatus() {
    Problem problem =
        Problem.timeout(new EngineException(ErrorCode.QUERY_CANCELED, "canceled by time-out"));

    assertEquals(504, problem.status());
    assertEquals("57014", problem.sqlstate());
  }

  @Test
  void shouldHideWhatWentWrongInside() {
    Problem problem =
        Problems.of(new EngineException(ErrorCode.INTERNAL_ERROR, "secret", new Error("deep")));

    assertEquals(500, problem.status());
    assertFalse(json(problem).contains("secret") || json(problem).contains("deep"), json(problem));
    assertEquals(0, problem.getStackTrace().length);
  }

  @Test
  void shouldFindTheNearestName() {
    List<String> known = List.of("limit", "after", "wait");

    assertEquals("limit", NearestName.of("limt", known));
    assertEquals("limit", NearestName.of("LIMIT", known));
    assertEquals("wait", NearestName.of("wiat", known));
    assertEquals("after", NearestName.of("aftre", known));
    assertNull(NearestName.of("x", known));
    assertNull(NearestName.of("completely", known));
    assertNull(NearestName.of("x".repeat(10_000), known));
  }
}
