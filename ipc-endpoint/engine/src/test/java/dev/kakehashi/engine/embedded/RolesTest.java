package dev.kakehashi.engine.embedded;

import static dev.kakehashi.engine.embedded.TestEngine.assertState;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.Roles;
import dev.kakehashi.engine.api.Statement;
import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.catalog.ShownSetting;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.authentication.ScramVerifier;
import dev.kakehashi.testsupport.Await;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Roles and privileges beside what [RightsDifferenceTest] compares with PostgreSQL: the time before the first role, plans that are used
/// again, restarts, who gets in.
class RolesTest {
  private static final String OPERATOR = "operator";
  private static final @Nullable Object[][] ONCE = {{}};

  @TempDir Path directory;

  private TestEngine open() {
    TestEngine engine = new TestEngine(directory);
    engine.engine.roles().operator(OPERATOR);
    return engine;
  }

  // ---- before and after the first role ----

  @Test
  void shouldLetEverybodyDoEverythingAsLongAsThereAreNoRoles() {
    try (TestEngine engine = open()) {
      TestEngine.Other alice = engine.other("alice");
      TestEngine.Other bob = engine.other("bob");
      alice.run("create schema s");
      alice.run("create table s.t (a int)");
      bob.run("insert into s.t values (1)");
      bob.run("alter table s.t add b int");
      alice.run("drop schema s cascade");
      assertFalse(engine.engine.roles().areUsed());
      assertTrue(engine.engine.roles().isMemberOf("anybody", "pg_monitor"));
      assertTrue(engine.engine.roles().mayCancel("alice", "bob"));
    }
  }

  @Test
  void shouldCountRightsFromTheFirstRoleOn() {
    try (TestEngine engine = open()) {
      engine.engine.roles().users(() -> Map.of("filed", "SCRAM-SHA-256$x"));
      TestEngine.Other alice = engine.other("alice");
      TestEngine.Other bob = engine.other("bob");
      bob.run("create table t (a int)");
      bob.run("insert into t values (1)");
      alice.run("create role first");
      // The user who has made it is not locked out, nor is the operator; the others have to be
      // granted what they need.
      assertEquals(List.of("1"), alice.query("select a from t"));
      assertState("42501", () -> bob.query("select a from t"));
      assertState("42501", () -> bob.run("create table mine (a int)"));
      assertState("42501", () -> engine.other("stranger").query("select a from t"));
      assertEquals(List.of("1"), engine.other(OPERATOR).query("select a from t"));
      assertEquals(
          List.of(
              "alice|t|t",
              "bob|f|t",
              "filed|f|t",
              "first|f|f",
              "kakehashi_deploy|f|f",
              "kakehashi_replication|f|f",
              "operator|t|t",
              "test|f|t"),
          alice.query(
              "select role_name, is_superuser, can_log_in from kakehashi_catalog.roles"
                  + " where role_name not like 'pg\\_%' order by 1"));
      assertEquals(
          List.of("operator"),
          alice.query(
              "select distinct owner from kakehashi_catalog.privileges where object_name = 't'"));
      alice.run("grant select on t to bob");
      assertEquals(List.of("1"), bob.query("select a from t"));
    }
  }

  @Test
  void shouldNotBeginToCountWhenTheFirstRoleIsRolledBack() {
    try (TestEngine engine = open()) {
      TestEngine.Other alice = engine.other("alice");
      TestEngine.Other bob = engine.other("bob");
      alice.run("create table t (a int)");
      EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
      alice.run(transaction, "create role first");
      alice.run(transaction, "set role first");
      assertState("42501", () -> alice.run(transaction, "select a from t"));
      assertEquals(List.of(), bob.query("select a from t"));
      engine.rollback(transaction);
      assertFalse(engine.engine.roles().areUsed());
      assertEquals(List.of("alice"), alice.query("select current_user"));
      assertEquals(List.of(), bob.query("select a from t"));
    }
  }

  @Test
  void shouldKeepWhatWasGrantedToEverybodyBefore() {
    try (TestEngine engine = open()) {
      TestEngine.Other alice = engine.other("alice");
      alice.run("create table t (a int)");
      alice.run("grant select on t to public");
      alice.run("create role first login");
      assertEquals(List.of(), engine.other("first").query("select a from t"));
      assertState("42501", () -> engine.other("first").run("insert into t values (1)"));
    }
  }

  // ---- plans ----

  @Test
  void shouldRefuseAPreparedStatementAfterRevoke() {
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      operator.run("create role alice login");
      operator.run("create role readers");
      operator.run("create table t (a int primary key)");
      operator.run("insert into t values (1)");
      operator.run("grant select on t to readers");
      operator.run("grant readers to alice");
      TestEngine.Other alice = engine.other("alice");
      Statement statement = alice.prepare("select a from t where a = 1");
      assertEquals(List.of("1"), execute(engine, statement));
      operator.run("revoke readers from alice");
      assertState("42501", () -> execute(engine, statement));
      operator.run("grant readers to alice");
      assertEquals(List.of("1"), execute(engine, statement));
      operator.run("alter role alice noinherit");
      assertState("42501", () -> execute(engine, statement));
      alice.run("set role readers");
      assertEquals(List.of("1"), execute(engine, statement));
      alice.run("reset role");
      assertState("42501", () -> execute(engine, statement));
      operator.run("grant select on t to public");
      assertEquals(List.of("1"), execute(engine, statement));
      operator.run("revoke select on t from public");
      assertState("42501", () -> execute(engine, statement));
      operator.run("alter table t owner to alice");
      assertEquals(List.of("1"), execute(engine, statement));
    }
  }

  private static List<String> execute(TestEngine engine, Statement statement) {
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    boolean committed = false;
    try {
      List<String> rows = engine.execute(transaction, statement, ONCE).rows();
      engine.commit(transaction);
      committed = true;
      return rows;
    } finally {
      if (!committed) {
        engine.rollback(transaction);
      }
    }
  }

  @Test
  void shouldNotGiveOneUsersPlanToAnother() {
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      operator.run("create role alice login");
      operator.run("create role bob login");
      operator.run("create table t (a int)");
      operator.run("grant select on t to alice");
      String sql = "select a from t";
      for (int i = 0; i < 3; i++) {
        assertEquals(List.of(), engine.other("alice").query(sql));
        assertState("42501", () -> engine.other("bob").query(sql));
        assertState("42501", () -> engine.other("bob").query("explain " + sql));
        assertState("42501", () -> engine.other("bob").query("explain analyze " + sql));
        assertState("42501", () -> engine.other("bob").run("create table public.c as " + sql));
      }
    }
  }

  @Test
  void shouldReadAViewWithTheRightsOfItsOwnerOfNow() {
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      operator.run("create role alice login");
      operator.run("create role bob login");
      operator.run("create table t (a int)");
      operator.run("create view v as select a from t");
      operator.run("grant select on v to alice");
      assertEquals(List.of(), engine.other("alice").query("select * from v"));
      operator.run("alter view v owner to bob");
      assertState("42501", () -> engine.other("alice").query("select * from v"));
      operator.run("grant select on t to bob");
      assertEquals(List.of(), engine.other("alice").query("select * from v"));
      assertState("42501", () -> engine.other("alice").query("select * from t"));
    }
  }

  // ---- durability ----

  private static final List<String> SCRIPT =
      List.of(
          "create role alice login superuser createrole createdb password 'secret' valid until '2030-01-01 00:00+00'",
          "create role bob login noinherit password null",
          "create role \"The readers\"",
          "comment on role \"The readers\" is 'read'",
          "grant \"The readers\" to bob with admin option",
          "grant pg_monitor to \"The readers\"",
          "create schema s authorization bob",
          "create table s.t (a int generated always as identity, b serial, c text)",
          "create table u (a int)",
          "create view v as select a from u",
          "create sequence q",
          "alter table s.t owner to bob",
          "grant usage on schema s to \"The readers\"",
          "grant select, update (c), insert (c) on s.t to \"The readers\" with grant option",
          "grant select on v to public",
          "grant all on u to bob",
          "revoke delete on u from " + OPERATOR,
          "grant usage on sequence q to alice with grant option",
          "grant create on database kakehashi to bob",
          "revoke all on schema public from public",
          "grant usage on schema public to bob with grant option",
          "alter default privileges for role bob in schema s grant select on tables to public",
          "alter default privileges for role bob revoke all on sequences from bob",
          "alter default privileges grant insert on tables to alice");

  @Test
  void shouldKeepRolesAndRightsThroughARestart() {
    List<String> before;
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      SCRIPT.forEach(operator::run);
      before = engine.engine.definitions();
    }
    try (TestEngine engine = open()) {
      assertEquals(before, engine.engine.definitions());
      assertTrue(engine.engine.roles().areUsed());
      assertState("42501", () -> engine.other("nobody").query("select * from s.t"));
    }
  }

  @Test
  void shouldMakeTheSameRolesAndRightsOutOfTheirDefinitions() {
    List<String> definitions;
    List<String> privileges;
    String rows = "select * from kakehashi_catalog.privileges order by 1, 2, 3, 4, 5, 6, 7, 8";
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      SCRIPT.forEach(operator::run);
      definitions = engine.engine.definitions();
      privileges = operator.query(rows);
      assertTrue(
          definitions.stream().anyMatch(text -> text.contains("PASSWORD 'SCRAM-SHA-256$")),
          "the verifier is in the definitions for the operator");
      assertEquals(
          List.of("0"),
          operator.query(
              "select count(*) from kakehashi_catalog.definitions where definition like '%SCRAM%'"));
    }
    try (TestEngine engine = new TestEngine(directory.resolve("b"))) {
      engine.engine.roles().operator(OPERATOR);
      TestEngine.Other operator = engine.other(OPERATOR);
      for (String definition : definitions) {
        // The session of the test itself has become a role of both engines with the first one.
        operator.run(definition);
      }
      assertEquals(privileges, operator.query(rows));
      assertEquals(
          definitions.stream().sorted().toList(),
          engine.engine.definitions().stream().sorted().toList());
    }
  }

  @Test
  void shouldForgetRightsOfASchemaWithTheSchema() {
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      operator.run("create role alice login");
      operator.run("create schema s");
      operator.run("grant create, usage on schema s to alice");
      operator.run("alter default privileges in schema s grant select on tables to alice");
      operator.run("drop schema s");
      operator.run("create schema s");
      operator.run("create table s.t (a int)");
      assertState("42501", () -> engine.other("alice").query("select * from s.t"));
      operator.run("drop role alice");
    }
    try (TestEngine engine = open()) {
      assertNull(engine.engine.catalogSnapshot().roles().role("alice"));
    }
  }

  @Test
  void shouldKeepRightsThroughTruncateAndRename() {
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      operator.run("create role alice login");
      operator.run("create schema s");
      operator.run("grant usage on schema s to alice");
      operator.run("create table s.t (a int, b int)");
      operator.run("grant select (b) on s.t to alice");
      operator.run("truncate s.t");
      operator.run("alter table s.t alter b type int8");
      operator.run("alter table s.t rename b to c");
      operator.run("alter table s.t rename to u");
      operator.run("alter schema s rename to r");
      operator.run("alter table r.u drop a");
      assertEquals(List.of(), engine.other("alice").query("select c from r.u"));
      operator.run("alter table r.u add d int");
      assertState("42501", () -> engine.other("alice").query("select d from r.u"));
    }
  }

  // ---- who gets in ----

  @Test
  void shouldSayHowRolesAndUsersOfTheFileGetIn() {
    String ofFile = ScramVerifier.of("filed".toCharArray()).format();
    try (TestEngine engine = open()) {
      Roles roles = engine.engine.roles();
      roles.users(() -> Map.of("carol", ofFile, OPERATOR, ofFile));
      assertEquals(ofFile, roles.login("carol").orElseThrow().verifier());
      assertTrue(roles.login("dave").isEmpty());
      TestEngine.Other operator = engine.other(OPERATOR);
      operator.run("create role dave login password 'secret' valid until '2020-01-01 00:00+00'");
      operator.run("create role nobody");
      Roles.Login dave = roles.login("dave").orElseThrow();
      assertTrue(
          ScramVerifier.parse(String.valueOf(dave.verifier())).matches("secret".toCharArray()));
      assertTrue(dave.canLogin());
      assertFalse(dave.isValid(Instant.parse("2020-01-01T00:00:00Z")));
      assertTrue(dave.isValid(Instant.parse("2019-12-31T23:59:59Z")));
      assertFalse(roles.login("nobody").orElseThrow().canLogin());
      Roles.Login carol = roles.login("carol").orElseThrow();
      assertTrue(carol.isRole());
      assertEquals(ofFile, carol.verifier());
      operator.run("alter role carol password null");
      assertNull(roles.login("carol").orElseThrow().verifier());
      operator.run("alter role " + OPERATOR + " password 'lost'");
      // A user who can write the file gets in.
      assertEquals(ofFile, roles.login(OPERATOR).orElseThrow().verifier());
      engine.other("dave").run("alter role dave password 'mine'");
      assertTrue(
          ScramVerifier.parse(String.valueOf(roles.login("dave").orElseThrow().verifier()))
              .matches("mine".toCharArray()));
      assertEquals("dave", roles.login("dave").orElseThrow().toString());
    }
  }

  @Test
  void shouldSayWhoMayCancelAndSee() {
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      operator.run("create role alice login");
      operator.run("create role bob login");
      operator.run("create role guard login in role pg_signal_backend, pg_monitor");
      Roles roles = engine.engine.roles();
      assertTrue(roles.mayCancel("alice", "alice"));
      assertFalse(roles.mayCancel("alice", "bob"));
      assertTrue(roles.mayCancel("guard", "bob"));
      assertFalse(roles.mayCancel("guard", OPERATOR));
      assertTrue(roles.mayCancel(OPERATOR, "guard"));
      // A member of a superuser's role is no superuser himself.
      operator.run("create role chief superuser login");
      operator.run("grant chief to bob");
      assertFalse(roles.mayCancel("bob", "chief"));
      assertTrue(roles.mayCancel("chief", OPERATOR));
      assertTrue(roles.isMemberOf("guard", "pg_read_all_stats"));
      assertFalse(roles.isMemberOf("alice", "pg_monitor"));
      assertFalse(roles.isMemberOf("alice", "nosuch"));
      EngineTransaction transaction =
          engine.engine.begin(
              new BeginOptions(
                  BeginOptions.DEFAULT.kind(), BeginOptions.DEFAULT.isolation(), "secret label"));
      transaction.owner(new Viewer("", "bob", "", Viewer.Sight.USER));
      String labels = "select distinct label from kakehashi_catalog.transactions where label <> ''";
      assertFalse(engine.other("alice").query(labels).contains("secret label"));
      assertTrue(engine.other("bob").query(labels).contains("secret label"));
      assertTrue(engine.other("guard").query(labels).contains("secret label"));
      engine.rollback(transaction);
    }
  }

  private static EngineTransaction begin(TestEngine engine, String user) {
    EngineTransaction transaction = engine.engine.begin(BeginOptions.DEFAULT);
    transaction.owner(new Viewer("", user, "", Viewer.Sight.USER));
    return transaction;
  }

  private static String failure(TestEngine engine, EngineTransaction transaction) {
    EngineException told =
        assertThrows(EngineException.class, () -> engine.run(transaction, "select 1"));
    return told.code().sqlstate();
  }

  @Test
  void shouldEndTransactionsOfOthersForThoseWhoMay() {
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      operator.run("create role alice login");
      operator.run("create role bob login");
      operator.run("create role guard login in role pg_signal_backend");
      EngineTransaction ofBob = begin(engine, "bob");
      EngineTransaction ofOperator = begin(engine, OPERATOR);
      String idle = "select user_name from kakehashi_catalog.transactions where transaction_id = ";
      assertEquals(List.of("bob"), operator.query(idle + ofBob.id()));
      String end = "select terminate_transaction(" + ofBob.id() + ")::text";
      EngineException refused =
          assertThrows(EngineException.class, () -> engine.other("alice").query(end));
      assertEquals("42501", refused.code().sqlstate());
      assertEquals(EngineTransaction.State.ACTIVE, ofBob.state());
      assertEquals(List.of("true"), engine.other("guard").query(end));
      assertEquals("25P03", failure(engine, ofBob));
      assertEquals(List.of("false"), operator.query(end));
      String endOperators = "select terminate_transaction(" + ofOperator.id() + ")::text";
      assertThrows(EngineException.class, () -> engine.other("guard").query(endOperators));
      assertEquals(List.of("true"), operator.query(endOperators));
      assertEquals(EngineTransaction.State.ABORTED, ofOperator.state());
    }
  }

  /// A statement that runs, or waits for its reader, is told why it ends; a prepared transaction is nobody's any more.
  @Test
  void shouldCancelWhatATerminatedTransactionRuns() {
    try (TestEngine engine = open()) {
      engine.run("create table t (id int primary key)");
      EngineTransaction waiting = begin(engine, OPERATOR);
      engine.run(waiting, "insert into t values (1)");
      TestEngine.Running cursor =
          engine.start(
              waiting,
              engine.prepare("select * from generate_series(1, 1000000)"),
              new Object[][] {{}},
              1,
              0);
      TestEngine.Running blocked =
          engine.start(
              begin(engine, OPERATOR),
              engine.prepare("insert into t values (1)"),
              new Object[][] {{}},
              1,
              0);
      assertEquals(
          List.of("true"),
          engine.query("select terminate_transaction(" + waiting.id() + ")::text"));
      EngineException told = assertThrows(EngineException.class, cursor::await);
      assertEquals("25P03", told.code().sqlstate());
      assertEquals(ErrorCode.TRANSACTION_TERMINATED, told.code());
      // The statement that has waited for it goes on.
      assertEquals(1, blocked.await().count());
    }
  }

  @Test
  void shouldNotTerminateAPreparedTransaction() {
    try (TestEngine engine = open()) {
      engine.run("create table t (id int primary key)");
      EngineTransaction transaction = begin(engine, OPERATOR);
      engine.run(transaction, "insert into t values (1)");
      engine.run(transaction, "prepare transaction 'kept'");
      assertEquals(
          List.of("false"),
          engine.query("select terminate_transaction(" + transaction.id() + ")::text"));
      engine.run("commit prepared 'kept'");
      assertEquals(List.of("1"), engine.query("select id from t"));
    }
  }

  @Test
  void shouldEndWhatADroppedRoleHasOpen() {
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      operator.run("create role alice login");
      operator.run("create role bob login");
      operator.run("create role carol login");
      EngineTransaction ofAlice = begin(engine, "alice");
      EngineTransaction ofBob = begin(engine, "bob");
      EngineTransaction ofCarol = begin(engine, "carol");
      operator.run("drop role alice");
      operator.run("alter role bob nologin");
      for (EngineTransaction each : List.of(ofAlice, ofBob)) {
        Await.until("the transaction ends", () -> each.state() != EngineTransaction.State.ACTIVE);
        assertEquals("25P03", failure(engine, each));
      }
      assertEquals(EngineTransaction.State.ACTIVE, ofCarol.state());
      engine.rollback(ofCarol);
    }
  }

  @Test
  void shouldShowSettingsThatTellOfTheMachineToFew() {
    try (TestEngine engine = open()) {
      engine.engine.showSettings(
          List.of(
              new ShownSetting("place", "/srv", "", "", "default", false, null, true),
              new ShownSetting("size", "7", "")));
      String all = "select name from kakehashi_catalog.settings where name in ('place', 'size')";
      TestEngine.Other operator = engine.other(OPERATOR);
      assertEquals(List.of("place", "size"), engine.other("alice").query(all));
      operator.run("create role alice login");
      operator.run("create role watcher login");
      operator.run("grant pg_monitor to watcher");
      TestEngine.Other alice = engine.other("alice");
      assertEquals(List.of("size"), alice.query(all));
      assertEquals(List.of("7"), alice.query("show size"));
      assertState("42501", () -> alice.query("show place"));
      for (String who : List.of("watcher", OPERATOR)) {
        assertEquals(List.of("place", "size"), engine.other(who).query(all), who);
        assertEquals(List.of("/srv"), engine.other(who).query("show place"), who);
        assertTrue(
            engine.other(who).query("show all").stream().noneMatch(row -> row.contains("/srv")));
      }
    }
  }

  @Test
  void shouldShowStatisticsOfReadableColumnsAlone() {
    try (TestEngine engine = open()) {
      TestEngine.Other operator = engine.other(OPERATOR);
      operator.run("create role alice login");
      operator.run("create table t (a int, b int)");
      operator.run("insert into t select g, g from generate_series(1, 1000) g");
      operator.run("analyze t");
      operator.run("grant select (a) on t to alice");
      String sql =
          "select column_name from kakehashi_catalog.column_statistics where table_name = 't' order by 1";
      assertEquals(List.of("a", "b"), operator.query(sql));
      assertEquals(List.of("a"), engine.other("alice").query(sql));
    }
  }
}
