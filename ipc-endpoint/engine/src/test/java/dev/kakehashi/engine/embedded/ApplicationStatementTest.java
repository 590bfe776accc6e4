package dev.kakehashi.engine.embedded;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.engine.api.BeginOptions.Isolation;
import dev.kakehashi.engine.api.EngineTransaction;
import dev.kakehashi.engine.api.ExecuteOptions;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.application.ListedApplications;
import dev.kakehashi.engine.catalog.ApplicationSet;
import dev.kakehashi.engine.queue.ListQueues;
import dev.kakehashi.engine.store.api.StoreConfig;
import dev.kakehashi.engine.store.check.CheckListener;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// CREATE, ALTER and DROP APPLICATION: objects of the catalogue, with their jars.
final class ApplicationStatementTest {
  @TempDir Path directory;
  private final MemoryFiles files = new MemoryFiles();
  private ListedApplications applications;
  private TestEngine engine;

  @BeforeEach
  void open() {
    applications = new ListedApplications();
    engine = TestEngine.withApplications(directory, ListQueues::new, () -> applications);
    engine.engine.bulkAccess(files);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void reopen() {
    close();
    assertTrue(applications.isClosed());
    open();
  }

  private ApplicationSet set() {
    return engine.engine.catalogSnapshot().applications();
  }

  private ApplicationDefinition only() {
    List<ApplicationDefinition> defined = applications.defined();
    assertEquals(1, defined.size(), () -> defined.toString());
    return defined.getFirst();
  }

  /// A jar as it is written in a statement.
  static String jar(String... lines) {
    byte[] bytes = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
    return "bytea '\\x" + HexFormat.of().formatHex(bytes) + "'";
  }

  private void assertRefused(String sqlstate, String message, String sql) {
    EngineException refused = assertThrows(EngineException.class, () -> engine.query(sql), sql);
    assertEquals(sqlstate, refused.code().sqlstate(), () -> sql + ": " + refused.getMessage());
    assertTrue(
        String.valueOf(refused.getMessage()).contains(message),
        () -> sql + ": " + refused.getMessage());
  }

  @Test
  void shouldDeployBytesOfTheStatement() {
    engine.query(
        "create application shop from "
            + jar("function vat", "procedure place", "route /x", "process p")
            + " as 'shop.jar' with (time_limit = '2s', max_calls = 7, memory = '64MB',"
            + " isolation = 'process')");
    ApplicationDefinition shop = only();
    assertEquals("public", shop.schema());
    assertEquals(1, shop.version().number());
    assertEquals(CodeIsolation.PROCESS, shop.version().isolation());
    assertEquals(2000, shop.options().timeLimitMillis());
    assertEquals(7, shop.options().maxCalls());
    assertEquals(64 << 20, shop.options().memoryBytes());
    assertEquals("shop.jar", shop.version().jars().getFirst().name());
    assertEquals(1, set().functions("public", "vat").size());
    assertEquals(1, set().procedures("public", "place").size());
    assertEquals(List.of(), set().functions("other", "vat"));
    reopen();
    assertEquals(shop, only());
    assertArrayEquals(
        "function vat\nprocedure place\nroute /x\nprocess p".getBytes(StandardCharsets.UTF_8),
        applications.host().jar(only().version().jars().getFirst()));
  }

  @Test
  void shouldDeployParametersAndFiles() {
    files.put("in/base.jar", "function two");
    engine.run("create application a from $1 as 'first.jar', 'in/base.jar'", "function one");
    assertEquals(
        List.of("first.jar", "base.jar"),
        only().version().jars().stream().map(ApplicationDefinition.Jar::name).toList());
    assertEquals(1, set().functions("public", "one").size());
    assertEquals(1, set().functions("public", "two").size());
    assertRefused("58P01", "", "create application b from 'in/none.jar'");
    TestEngine.assertState(
        "22004", () -> engine.run("create application b from $1", (Object) null));
  }

  @Test
  void shouldFlipAtTheCommit() {
    engine.query("create application a from " + jar("function f", "function old"));
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    engine.run(transaction, "alter application a from " + jar("function f", "function young"));
    assertEquals(1, only().version().number());
    assertEquals(1, set().functions("public", "old").size());
    engine.rollback(transaction);
    assertEquals(1, set().jars().size());
    engine.query(
        "alter application a from " + jar("function f", "function young") + " with (max_rows = 5)");
    assertEquals(2, only().version().number());
    assertEquals(5, only().options().maxRows());
    assertEquals(List.of(), set().functions("public", "old"));
    assertEquals(1, set().functions("public", "young").size());
    engine.query("alter application a version 1");
    assertEquals(1, only().version().number());
    assertEquals(2, set().jars().size());
    engine.query("alter application a from " + jar("function f"));
    assertEquals(3, only().version().number());
    assertRefused("42704", "version 9", "alter application a version 9");
  }

  @Test
  void shouldKeepTheNewestVersionsAndTheirJars() {
    engine.query("create application a from " + jar("function f0"));
    for (int i = 1; i <= 12; i++) {
      engine.query("alter application a from " + jar("function f" + i));
    }
    assertEquals(13, only().version().number());
    assertEquals(10, set().jars().size());
    assertRefused("42704", "version 3", "alter application a version 3");
    engine.query("alter application a version 4");
    engine.query("create application b from " + jar("function f12"));
    engine.query("drop application a");
    assertEquals(1, set().jars().size());
    reopen();
    assertEquals("b", only().name());
    assertEquals(1, set().jars().size());
  }

  @Test
  void shouldRefuseWhatCannotBeDeployed() {
    engine.query("create application a from " + jar("function f", "procedure p"));
    assertRefused("42710", "already exists", "create application a from " + jar("function g"));
    engine.query("create application if not exists a from " + jar("nonsense"));
    assertRefused("42710", "\"f\" already", "create application b from " + jar("function f"));
    assertRefused("42710", "built-in", "create application b from " + jar("function lower"));
    assertRefused("42710", "built-in", "create application b from " + jar("function sum"));
    assertRefused(
        "42710", "defined twice", "create application b from " + jar("function g", "function g"));
    assertRefused("42704", "queue \"q\"", "create application b from " + jar("handler q"));
    assertRefused("22023", "is no jar", "create application b from " + jar("nonsense"));
    assertRefused(
        "22023", "no option", "create application b from " + jar("function g") + " with (x = 1)");
    assertRefused(
        "42601",
        "redundant",
        "create application b from " + jar("function g") + " with (max_rows = 1, max_rows = 2)");
    assertRefused("3F000", "nowhere", "create application nowhere.b from " + jar("function g"));
    assertRefused("42704", "\"b\" does not", "alter application b from " + jar("function g"));
    assertRefused("42704", "\"b\" does not", "drop application b");
    engine.query("drop application if exists b");
    engine.query("alter application if exists b rename to c");
    engine.query("create queue q");
    engine.query("create schema s");
    engine.query("create application s.b from " + jar("function f", "handler q"));
    assertEquals(2, applications.defined().size());
  }

  @Test
  void shouldChangeNameSchemaOwnerAndLimits() {
    engine.query("create schema s");
    engine.query("create role r");
    engine.query("create application a from " + jar("function f"));
    engine.query("alter application a set (time_limit = '1min', max_stack = '256kB')");
    assertEquals(60_000, only().options().timeLimitMillis());
    assertEquals(256 << 10, only().options().maxStackBytes());
    engine.query("alter application a reset (time_limit)");
    assertEquals(60_000, only().options().timeLimitMillis());
    assertRefused("22023", "isolation", "alter application a set (isolation = 'process')");
    engine.query("alter application a rename to b");
    engine.query("alter application b set schema s");
    engine.query("alter application s.b owner to r");
    engine.query("comment on application s.b is 'it'");
    assertEquals("r", only().owner());
    assertEquals(1, set().functions("s", "f").size());
    assertEquals(List.of(), set().functions("public", "f"));
    assertEquals("it", Objects.requireNonNull(set().find("s", "b")).comment());
    assertRefused("2BP01", "schema s", "drop schema s");
    assertRefused("2BP01", "r", "drop role r");
    engine.query("alter schema s rename to t");
    assertEquals(1, set().functions("t", "f").size());
    engine.query("drop schema t cascade");
    assertEquals(List.of(), applications.defined());
    assertEquals(List.of(), List.copyOf(set().jars()));
  }

  @Test
  void shouldLetThoseDeployWhoMay() {
    engine.query("create role maker login");
    engine.query("create role user1 login");
    TestEngine.Other maker = engine.other("maker");
    String create = "create application a from " + jar("function f", "procedure p");
    TestEngine.assertState("42501", () -> maker.query(create));
    engine.query("grant create on schema public to maker");
    EngineException refused = assertThrows(EngineException.class, () -> maker.query(create));
    assertTrue(String.valueOf(refused.getMessage()).contains("deploy"), refused::getMessage);
    engine.query("grant kakehashi_deploy to maker");
    maker.query(create);
    assertEquals("maker", only().owner());
    TestEngine.assertState(
        "42501", () -> engine.other("user1").query("alter application a rename to b"));
    TestEngine.assertState("42501", () -> engine.other("user1").query("drop application a"));
    files.put("in/x.jar", "function g");
    TestEngine.assertState("42501", () -> maker.query("create application b from 'in/x.jar'"));
    maker.query("drop application a");
  }

  private String may(String role, String member) {
    return engine
        .query("select has_function_privilege('" + role + "', '" + member + "', 'EXECUTE')")
        .getFirst();
  }

  @Test
  void shouldGrantExecutionByNameAndAsAWhole() {
    engine.query("create role r1");
    engine.query("create role r2");
    engine.query("create application a from " + jar("function f", "function g", "procedure p"));
    assertEquals("t", may("r1", "f"));
    engine.query("revoke execute on function f(int8) from public");
    assertEquals("f", may("r1", "f"));
    assertEquals("t", may("r1", "g"));
    engine.query("grant execute on function f to r1");
    assertEquals("t", may("r1", "f"));
    assertEquals("f", may("r2", "f"));
    engine.query("revoke all on application a from public");
    assertEquals("t", may("r1", "f"));
    assertEquals("f", may("r1", "g"));
    assertEquals("f", may("r1", "p"));
    engine.query("grant execute on all procedures in schema public to r2");
    assertEquals("t", may("r2", "p"));
    assertEquals("f", may("r2", "g"));
    engine.query("grant execute on application a to r1");
    assertEquals("t", may("r1", "p"));
    assertRefused("0LP01", "SELECT", "grant select on function f to r1");
    assertRefused("42883", "h", "grant execute on function h to r1");
    assertRefused("2BP01", "r1", "drop role r1");
    List<String> before = privileges();
    List<String> definitions = engine.engine.definitions();
    Path other = directory.resolve("again");
    ListedApplications again = new ListedApplications();
    try (TestEngine restored = TestEngine.withApplications(other, ListQueues::new, () -> again)) {
      // The user who makes the first role becomes a role himself.
      definitions.stream().filter(each -> !each.contains("ROLE test")).forEach(restored::query);
      assertEquals(only().version().jars(), again.defined().getFirst().version().jars());
      assertEquals(before, restored.query(PRIVILEGES));
    }
    engine.query("drop owned by r1, r2");
    engine.query("drop role r1");
    assertEquals("f", may("r2", "p"));
  }

  private static final String PRIVILEGES =
      "select object_type, object_name, grantee, privilege from kakehashi_catalog.privileges"
          + " where object_type in ('application', 'function', 'procedure') order by 1, 2, 3";

  private List<String> privileges() {
    return engine.query(PRIVILEGES);
  }

  @Test
  void shouldKeepDefaultPrivilegesOfApplicationsToCome() {
    engine.query("create role r1");
    engine.query("alter default privileges revoke execute on functions from public");
    engine.query("create application a from " + jar("function f"));
    assertEquals("f", may("r1", "f"));
  }

  @Test
  void shouldBeCheckedWithItsJars() {
    engine.query("create application a from " + jar("function f"));
    engine.close();
    List<String> problems = new ArrayList<>();
    List<String> checked = new ArrayList<>();
    EngineCheck.run(
        new StoreConfig(directory, 64L << 20, ListQueues::new),
        new CheckListener() {
          @Override
          public void problem(String text) {
            problems.add(text);
          }

          @Override
          public void checked(String text) {
            checked.add(text);
          }
        });
    assertEquals(List.of(), problems);
    assertTrue(
        checked.stream().anyMatch(line -> line.contains("1 applications")), checked::toString);
    open();
  }

  @Test
  void shouldRefuseToDropWhatIsUsed() {
    engine.query("create application a from " + jar("function f"));
    assertNotNull(set().find("public", "a"));
    engine.query("create table t (id int8, check (f(id) > 0))");
    assertRefused("2BP01", "depend", "drop application a");
    assertRefused("2BP01", "depend", "drop application a cascade");
    assertRefused("2BP01", "depend", "alter application a from " + jar("text f"));
    assertRefused("2BP01", "depend", "alter application a from " + jar("function g"));
    engine.query("alter application a from " + jar("function f", "function g"));
    engine.query("drop table t");
    engine.query("create table t (id int8)");
    engine.query("create view v as select f(id) from t");
    assertRefused("2BP01", "depend", "drop application a");
    assertRefused("2BP01", "depend", "alter application a from " + jar("function g"));
    engine.query("drop application a cascade");
    assertNull(set().find("public", "a"));
    TestEngine.assertState("42P01", () -> engine.query("select * from v"));
  }

  @Test
  void shouldGiveUpALookWhenCanceled() throws Exception {
    CountDownLatch gate = new CountDownLatch(1);
    applications.gate = gate;
    EngineTransaction transaction = engine.begin(Isolation.READ_COMMITTED);
    TestEngine.Running running =
        engine.start(
            transaction, "create application a from " + jar("function f"), ExecuteOptions.DEFAULT);
    applications.inspecting.await();
    Objects.requireNonNull(running.execution).cancel();
    TestEngine.assertState("57014", running::await);
    gate.countDown();
    engine.rollback(transaction);
    assertEquals(List.of(), applications.defined());
    engine.query("create application a from " + jar("function f"));
    assertEquals("a", only().name());
  }
}
