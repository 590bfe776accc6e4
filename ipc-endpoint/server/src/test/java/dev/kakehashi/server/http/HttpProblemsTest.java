package dev.kakehashi.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Statements that fail over HTTP: each failure tells what PostgreSQL tells, as a problem of RFC 9457.
@Timeout(120)
@SuppressWarnings("NullAway.Init") // set before each test
class HttpProblemsTest {
  private static HttpFixture door;
  private HttpConnection alice;

  @BeforeAll
  static void start() throws IOException {
    door = HttpFixture.start();
    try (HttpConnection alice = door.alice()) {
      alice.sql("create table parent (id int8 primary key)").expect(200);
      alice
          .sql(
              "create table child (id int8 primary key, parent int8 constraint child_parent references parent,"
                  + " v int4 not null constraint child_v check (v > 0))")
          .expect(200);
      alice.sql("insert into parent values (1)").expect(200);
      alice.sql("insert into child values (1, 1, 1)").expect(200);
    }
  }

  @AfterAll
  static void stop() throws Exception {
    door.close();
  }

  @BeforeEach
  void connect() throws IOException {
    alice = door.alice();
  }

  @Test
  void shouldTellThePosition() throws IOException {
    JsonNode syntax = alice.sql("select 1 frm parent where").problem(400, "42601");
    assertTrue(syntax.path("position").asInt() > 1, syntax::toString);
    JsonNode column = alice.sql("select nothing from parent").problem(400, "42703");
    assertEquals(8, column.path("position").asInt(), column::toString);
    JsonNode table = alice.sql("select * from nowhere").problem(400, "42P01");
    assertEquals(15, table.path("position").asInt(), table::toString);
    assertFalse(table.path("retryable").asBoolean());
    assertEquals("tag:kakehashi.dev,2026:undefined-table", table.path("type").asText());
  }

  @Test
  void shouldTellWhatIsViolated() throws IOException {
    JsonNode key = alice.sql("insert into child values (1, 1, 1)").problem(422, "23505");
    assertEquals("child", key.path("table").asText(), key::toString);
    assertEquals("child_pkey", key.path("constraint").asText(), key::toString);
    assertTrue(key.path("sqlDetail").asText().contains("(id)=(1)"), key::toString);
    JsonNode check = alice.sql("insert into child values (2, 1, 0)").problem(422, "23514");
    assertEquals("child_v", check.path("constraint").asText(), check::toString);
    JsonNode reference = alice.sql("insert into child values (2, 9, 1)").problem(422, "23503");
    assertEquals("child_parent", reference.path("constraint").asText(), reference::toString);
    JsonNode missing = alice.sql("insert into child values (2, 1, null)").problem(422, "23502");
    assertEquals("v", missing.path("column").asText(), missing::toString);
    assertEquals("child", missing.path("table").asText(), missing::toString);
    assertEquals("1", alice.sql("select count(*) from child").value());
  }

  @Test
  void shouldSayThatItsOwnTransactionIsRolledBack() throws IOException {
    HttpAnswer answer = alice.sql("insert into child values (1, 1, 1)");
    answer.problem(422, "23505");
    assertEquals("aborted;sqlstate=\"23505\"", answer.header("Kakehashi-Transaction"));
  }

  @Test
  void shouldGiveEachClassItsStatus() throws IOException {
    alice.sql("select 1 / 0").problem(422, "22012");
    alice.sql("select (select id from generate_series(1, 2) g(id))").problem(422, "21000");
    alice.sql("create table parent (id int8 primary key)").problem(400, "42P07");
    alice.sql("drop table parent").problem(409, "2BP01");
    alice.sql("commit").problem(404, "25P01");
    alice.sql("begin").problem(501, "0A000");
    alice.sql("select no_such_function(1)").problem(400, "42883");
    alice.sql("select * from no_schema.t").problem(400, "42P01");
  }

  @Test
  void shouldEndAStatementWhoseTimeIsOver() throws IOException {
    HttpAnswer answer = alice.json("{\"sql\":\"" + HttpFixture.ENDLESS + "\",\"timeout\":200}");
    JsonNode problem = answer.problem(504, "57014");
    assertTrue(problem.path("retryable").asBoolean());
    assertEquals("aborted;sqlstate=\"57014\"", answer.header("Kakehashi-Transaction"));
    HttpAnswer inQuery =
        alice
            .send(
                "POST /v1/sql?timeout=200",
                HttpFixture.ENDLESS.getBytes(java.nio.charset.StandardCharsets.UTF_8),
                "Content-Type: application/sql")
            .answer();
    inQuery.problem(504, "57014");
  }

  /// Each query of WITH names the one before it twice: no machine plans that many joins while the test runs.
  @Test
  void shouldEndAStatementWhoseTimeIsOverWhileItIsPlanned() throws IOException {
    StringBuilder sql = new StringBuilder("with q0 as not materialized (select 1 as x)");
    for (int i = 1; i <= 12; i++) {
      sql.append(
          ", q%d as not materialized (select a.x from q%d a, q%d b)".formatted(i, i - 1, i - 1));
    }
    sql.append(" select count(*) from q12");
    alice.json("{\"sql\":\"" + sql + "\",\"timeout\":200}").problem(504, "57014");
    alice.sql("select 1").expect(200);
  }

  @Test
  void shouldRefuseAChainOfOperatorsThatIsTooLong() throws IOException {
    String chain = "1+".repeat(100_000) + "1";
    alice.sql("select " + chain).problem(413, "54000");
    alice.sql("select 1").expect(200);
  }

  /// A failure before anything is sent is a problem, and not the beginning of a result.
  @Test
  void shouldAnswerAFailureAmongTheFirstRowsAsAProblem() throws IOException {
    alice.sql("select 1 / (i - 100) from generate_series(1, 200) i").problem(422, "22012");
  }

  private HttpAnswer failingLate(String accept) throws IOException {
    HttpAnswer answer =
        alice.sql(
            "select i, 1 / (i - 900000) from generate_series(1, 1000000) i", "Accept: " + accept);
    assertEquals(200, answer.status(), answer::toString);
    assertTrue(answer.body().length > 1_000_000, answer::toString);
    assertFalse(answer.isWhole(), "a failure in the middle looks like an end");
    return answer;
  }

  @Test
  void shouldBreakTheFramingWhenRowsFailInTheMiddle() throws IOException {
    assertFalse(failingLate("application/json").text().contains("rowCount"));
    alice = door.alice();
    failingLate("text/csv");
    alice = door.alice();
    String lines = failingLate("application/x-ndjson").text();
    String last = lines.lines().reduce((before, line) -> line).orElseThrow();
    JsonNode problem = HttpAnswer.json(last).path("error");
    assertEquals("22012", problem.path("sqlstate").asText(), last);
    assertEquals(422, problem.path("status").asInt(), last);
    alice = door.alice();
    String arrow = failingLate("application/vnd.apache.arrow.stream").text();
    assertTrue(arrow.contains("kakehashi.error") && arrow.contains("22012"));
  }
}
