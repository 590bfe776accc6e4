package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.testing.ResultText;
import dev.kakehashi.testsupport.PrivatePostgres;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Statements of several users about roles and rights on PostgreSQL and on the engine: the same rows, SQLSTATEs and messages.
class RightsDifferenceTest {
  private static final int MAX_SHOWN = 40;
  private static final String OPERATOR = "postgres";
  private static final String DATABASE = "kakehashi";

  @TempDir Path directory;

  /// A statement and who runs it.
  private record Step(String user, String sql) {}

  /// Connections of users to PostgreSQL, each opened when its user comes first.
  private static final class Server implements AutoCloseable {
    private final PrivatePostgres postgres = PrivatePostgres.start();
    private final Map<String, Connection> connections = new HashMap<>();

    Server() throws SQLException {
      try (Connection connection = postgres.connect();
          Statement statement = connection.createStatement()) {
        statement.execute("create database " + DATABASE);
      }
    }

    String run(Step step) throws SQLException {
      Connection connection = connections.get(step.user());
      if (connection == null) {
        connection =
            DriverManager.getConnection(
                "jdbc:postgresql://127.0.0.1:%d/%s?user=%s"
                    .formatted(postgres.port(), DATABASE, step.user()));
        connections.put(step.user(), connection);
      }
      try (Statement statement = connection.createStatement()) {
        if (!statement.execute(step.sql())) {
          return "changed " + statement.getUpdateCount();
        }
        try (ResultSet result = statement.getResultSet()) {
          return shown(ResultText.rows(result));
        }
      } catch (SQLException refused) {
        return refused.getSQLState()
            + " "
            + String.valueOf(refused.getMessage())
                .lines()
                .findFirst()
                .orElse("")
                .replaceFirst("^ERROR: ", "");
      }
    }

    @Override
    public void close() throws SQLException {
      for (Connection connection : connections.values()) {
        connection.close();
      }
      postgres.close();
    }
  }

  private static String shown(List<String> rows) {
    List<String> sorted = new ArrayList<>(rows);
    sorted.sort(null);
    return sorted.toString();
  }

  private static String onEngine(TestEngine.Other session, String sql) {
    try {
      TestEngine.Result result = session.run(sql);
      boolean setting = sql.startsWith("set ") || sql.startsWith("reset ");
      return result.isQuery() && !setting ? shown(result.rows()) : "changed " + result.count();
    } catch (EngineException refused) {
      return refused.code().sqlstate() + " " + refused.getMessage();
    }
  }

  private static List<Step> steps() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(RightsDifferenceTest.class.getResourceAsStream("rights.sql"))) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      List<Step> steps = new ArrayList<>();
      String user = OPERATOR;
      for (String statement : Pattern.compile(";\\s*\n").splitAsStream(text).toList()) {
        String sql = statement.strip();
        while (sql.startsWith("--")) {
          int end = sql.indexOf('\n');
          user = sql.startsWith("-- as ") ? sql.substring("-- as ".length(), end).strip() : user;
          sql = sql.substring(end + 1).strip();
        }
        if (!sql.isEmpty()) {
          steps.add(new Step(user, sql));
        }
      }
      return steps;
    }
  }

  private static boolean agree(String postgres, String engine) {
    // Features that the engine does not have, and says so.
    return postgres.equals(engine) || (postgres.startsWith("0A000") && engine.startsWith("0A000"));
  }

  @Test
  void shouldAllowAndRefuseAsPostgresDoes() throws SQLException, IOException {
    compare(steps());
  }

  private void compare(List<Step> steps) throws SQLException {
    List<String> differences = new ArrayList<>();
    int refused = 0;
    try (Server server = new Server();
        TestEngine engine = new TestEngine(directory)) {
      engine.engine.roles().operator(OPERATOR);
      Map<String, TestEngine.Other> sessions = new HashMap<>();
      for (Step step : steps) {
        String expected = server.run(step);
        String actual = onEngine(sessions.computeIfAbsent(step.user(), engine::other), step.sql());
        refused += expected.startsWith("42501") ? 1 : 0;
        if (!agree(expected, actual)) {
          differences.add(
              step.user()
                  + "> "
                  + step.sql()
                  + "\n  PostgreSQL: "
                  + expected
                  + "\n  engine:     "
                  + actual);
        }
      }
    }
    assertEquals(
        "",
        String.join("\n", differences.subList(0, Math.min(MAX_SHOWN, differences.size()))),
        differences.size() + " differences");
    assertTrue(refused > steps.size() / 10, "of " + steps.size() + " refused: " + refused);
  }

  // ---- random statements ----

  private static final int STATEMENTS = Integer.getInteger("kakehashi.statements", 500);
  private static final String[] USERS = {"u0", "u1", "u2", "u3", OPERATOR};
  private static final String[] ROLES = {"u0", "u1", "u2", "u3", "g0", "g1", "g2"};
  private static final String[] TABLES = {"t0", "t1", "v0", "x.t2"};
  private static final String[] PRIVILEGES = {
    "select",
    "insert",
    "update",
    "delete",
    "truncate",
    "references",
    "all",
    "select (a)",
    "select (b), update (b)",
    "insert (a, b)",
    "all (a)",
    "select, insert"
  };

  private static final String[] STATEMENTS_OF_ROWS = {
    "select a from %t",
    "select a, b from %t where a = 1",
    "select * from %t",
    "select count(*) from %t",
    "select b from %t where exists (select 1)",
    "select nextval('s0') > 0",
    "select currval('s0') > 0",
    "insert into t0 (a) values (1)",
    "insert into t1 (a, b) values (1, 2)",
    "insert into t1 (a) values (3) returning a",
    "insert into x.t2 values (1, 2)",
    "update t0 set b = 1",
    "update t1 set b = a",
    "update x.t2 set a = 2 where b = 2",
    "delete from t0",
    "delete from t1 where a = 1",
    "select a from t0 for update",
    "truncate t1",
    "create view x.mine as select a from t0",
    "create table x.mine (a int)",
    "drop view x.mine",
    "drop table x.mine",
    "alter table t1 alter b set default 3",
    "comment on table t0 is 'x'"
  };

  private static final List<String> SETUP =
      List.of(
          "create role u0 login",
          "create role u1 login",
          "create role u2 login noinherit",
          "create role u3 login",
          "create role g0",
          "create role g1",
          "create role g2 createrole",
          "create schema x",
          "create table t0 (a int, b int)",
          "create table t1 (a int, b int)",
          "create table x.t2 (a int, b int)",
          "create view v0 as select a, b from t0",
          "create sequence s0",
          "grant usage on schema x to u0, g1",
          "grant g0 to u0",
          "grant g1 to u1 with admin option",
          "alter table t1 owner to u0");

  private static final class Random {
    private final SplittableRandom random;

    Random(long seed) {
      this.random = new SplittableRandom(seed);
    }

    private String one(String[] of) {
      return of[random.nextInt(of.length)];
    }

    private boolean rarely() {
      return random.nextInt(5) == 0;
    }

    Step step() {
      return new Step(one(USERS), statement());
    }

    private String role() {
      return random.nextInt(9) == 0 ? "public" : one(ROLES);
    }

    private String statement() {
      String cascade = random.nextBoolean() ? " cascade" : "";
      return switch (random.nextInt(16)) {
        case 0, 1, 2 ->
            "grant %s on %s to %s%s"
                .formatted(
                    one(PRIVILEGES),
                    one(TABLES),
                    role(),
                    random.nextInt(3) == 0 ? " with grant option" : "");
        case 3 ->
            "revoke %s%s on %s from %s%s"
                .formatted(
                    rarely() ? "grant option for " : "",
                    one(PRIVILEGES),
                    one(TABLES),
                    role(),
                    cascade);
        case 4 ->
            "grant %s on schema %s to %s"
                .formatted(one(new String[] {"usage", "create", "all"}), one(SCHEMAS), role());
        case 5 ->
            "revoke %s on schema x from %s%s"
                .formatted(one(new String[] {"usage", "create", "all"}), role(), cascade);
        case 6 ->
            "%s %s on sequence s0 %s %s"
                .formatted(
                    rarely() ? "revoke" : "grant",
                    one(new String[] {"usage", "select", "update"}),
                    "%",
                    role())
                .replaceFirst("^(revoke.*)%", "$1from")
                .replaceFirst("^(grant.*)%", "$1to");
        case 7 ->
            "grant %s to %s%s"
                .formatted(one(ROLES), one(ROLES), rarely() ? " with admin option" : "");
        case 8 -> "revoke %s from %s".formatted(one(ROLES), one(ROLES));
        case 9 -> rarely() ? "reset role" : "set role " + one(ROLES);
        case 10 -> "reset role";
        case 11 -> "alter table %s owner to %s".formatted(one(TABLES), one(ROLES));
        case 12 ->
            "select has_table_privilege('%s', '%s', 'select'), has_column_privilege('%s', '%s', 'a', 'update'), pg_has_role('%s', '%s', 'usage')"
                .formatted(
                    one(ROLES), one(TABLES), one(ROLES), one(TABLES), one(ROLES), one(ROLES));
        default -> one(STATEMENTS_OF_ROWS).replace("%t", one(TABLES));
      };
    }

    private static final String[] SCHEMAS = {"x", "public"};
  }

  @Test
  void shouldAllowAndRefuseRandomStatementsAsPostgresDoes() throws SQLException {
    long seed = Long.getLong("kakehashi.seed", 20261126);
    System.out.println("RightsDifferenceTest: -Dkakehashi.seed=" + seed);
    Random random = new Random(seed);
    List<Step> steps = new ArrayList<>();
    SETUP.forEach(sql -> steps.add(new Step(OPERATOR, sql)));
    for (int i = 0; i < STATEMENTS; i++) {
      steps.add(random.step());
    }
    compare(steps);
  }
}
