package dev.kakehashi.pgtests.shell;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.Cluster;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.Tools;
import dev.kakehashi.pgtests.harness.Workspace;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/// `kakehashi sql` beside psql: one script, the same bytes.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ShellOutputTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final Workspace workspace = Workspace.create("shell");
  private final Path socket = workspace.memory().resolve("http.sock");
  private final Cluster cluster = Cluster.start(workspace, "http_socket=" + socket);
  private Path script = Path.of("");

  @BeforeAll
  void copyScript() throws IOException {
    script = cluster.workspace().disk().resolve("output.sql");
    try (InputStream text =
        Objects.requireNonNull(ShellOutputTest.class.getResourceAsStream("/shell/output.sql"))) {
      Files.write(script, text.readAllBytes());
    }
  }

  @AfterAll
  void stop() {
    cluster.close();
  }

  @Test
  void shouldPrintResultsAsPsqlDoes() {
    assertEquals(
        psql("-X", "-q", "-f", script.toString(), "2>/dev/null"),
        shell("2>/dev/null", "-q", "-f", script.toString()).output());
  }

  @Test
  void shouldPrintErrorsAsPsqlDoes() {
    assertEquals(
        psql("-X", "-q", "-f", script.toString(), "2>&1 >/dev/null")
            .replace("psql:", "kakehashi:")
            .replaceAll("(?m)^NOTICE.*\n", ""),
        shell("2>&1 >/dev/null", "-q", "-f", script.toString()).output());
  }

  @Test
  void shouldPrintValuesAloneInEachForm() {
    String rows = "select i, case when i > 1 then 'x,' || i end as t from generate_series(1, 3) i";
    for (List<String> form :
        List.of(List.of("-A", "-t"), List.of("--csv"), List.of("-A", "-F", ";"), List.of("-x"))) {
      List<String> asPsql = new ArrayList<>(List.of("-X"));
      asPsql.addAll(form);
      asPsql.addAll(List.of("-c", rows));
      List<String> asShell = new ArrayList<>(form);
      asShell.addAll(List.of("-c", rows));
      assertEquals(
          psql(asPsql.toArray(String[]::new)),
          shell("", asShell.toArray(String[]::new)).output(),
          form.toString());
    }
    assertEquals(
        "{\"i\":1,\"t\":null}\n{\"i\":2,\"t\":\"x,2\"}\n{\"i\":3,\"t\":\"x,3\"}\n",
        shell("", "--json", "-c", rows).output());
  }

  @Test
  void shouldEndWithTheStatusThatPsqlHas() {
    assertEquals(0, shell("2>/dev/null", "-c", "select 1").exitCode());
    assertEquals(1, shell("2>/dev/null", "-c", "select x").exitCode());
    assertEquals(0, shell("2>/dev/null", "-f", script.toString()).exitCode());
    assertEquals(
        3, shell("2>/dev/null", "-v", "ON_ERROR_STOP=1", "-f", script.toString()).exitCode());
    assertEquals(1, shell("2>/dev/null", "-f", "/nonexistent").exitCode());
  }

  @Test
  void shouldUndoASingleTransactionThatFails() {
    shell("", "-c", "create table single (id int primary key)");
    assertEquals(
        1,
        shell(
                "2>/dev/null",
                "-1",
                "-c",
                "insert into single values (1)",
                "-c",
                "insert into single values (1)")
            .exitCode());
    assertEquals("0\n", shell("", "-A", "-t", "-c", "select count(*) from single").output());
  }

  @Test
  void shouldListWhatThereIs() {
    List<String> commands = new ArrayList<>();
    for (String each :
        "d dt di dn du df dp dd l jobs locks sessions transactions queue app".split(" ", -1)) {
      commands.addAll(List.of("-c", "\\" + each));
    }
    OsProcess.Outcome shown = shell("2>&1", commands.toArray(String[]::new));
    assertEquals(0, shown.exitCode(), shown.output());
    assertFalse(shown.output().contains("ERROR"), shown.output());
  }

  @Test
  void shouldEndATransactionByItsNumber() {
    assertEquals("f\n", shell("2>&1", "-A", "-t", "-c", "\\terminate 0").output());
    String refused = shell("2>&1", "-c", "\\terminate all").output();
    assertTrue(refused.contains("\\transactions shows their numbers"), refused);
  }

  @Test
  void shouldDescribeATable() {
    shell(
        "",
        "-c",
        "create table parent (id int primary key); create table child (id bigint primary key, p int references parent,"
            + " name varchar(20) not null default 'x', check (id > 0)); create index child_name on child (name);");
    String shown = shell("", "-c", "\\d child").output();
    for (String line :
        List.of(
            " name   | character varying(20) |           | not null | 'x'",
            "Indexes:",
            "    \"child_pkey\" PRIMARY KEY, btree (id)",
            "    \"child_name\" btree (name)",
            "Check constraints:",
            "Foreign-key constraints:",
            "    \"child_p_fkey\" FOREIGN KEY (p) REFERENCES parent(id)")) {
      assertTrue(shown.contains(line), shown);
    }
    assertTrue(shell("", "-c", "\\d parent").output().contains("Referenced by:"));
  }

  @Test
  void shouldPrintTheSameOverHttp() throws IOException {
    // All but the savepoint, which HTTP has not.
    Path plain = cluster.workspace().disk().resolve("plain.sql");
    Files.writeString(
        plain, Files.readString(script).replaceAll("(?s)savepoint s;.*?rollback to s;\n", ""));
    for (String form : List.of("-q", "-At")) {
      assertEquals(
          shell("2>&1", form, "-f", plain.toString()).output(),
          overHttp("2>&1", form, "-f", plain.toString()).output(),
          form);
    }
    OsProcess.Outcome stopped =
        overHttp("2>&1", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose", "-c", "select 1/0");
    assertEquals("ERROR:  22012: division by zero\n", stopped.output());
    assertEquals(3, stopped.exitCode());
  }

  @Test
  void shouldHaveTransactionsOverHttp() {
    String commands =
        "create table far (id int primary key); begin; insert into far values (1); commit; begin; insert into far values (2); rollback;"
            + " begin; insert into far values (1); insert into far values (3); commit; select id from far";
    assertEquals("1\n", overHttp("2>/dev/null", "-q", "-At", "-c", commands).output());
    assertTrue(
        overHttp("2>&1", "-c", "begin; savepoint a").output().contains("do not go over HTTP"));
    String shown =
        overHttp(
                "2>&1",
                "-At",
                "--transaction",
                "LTX",
                "--write-preserve",
                "far",
                "--label",
                "nightly",
                "-c",
                "begin; select kind, label from kakehashi_catalog.transactions where label = 'nightly'; commit")
            .output();
    assertTrue(shown.toLowerCase(java.util.Locale.ROOT).contains("ltx|nightly\n"), shown);
  }

  @Test
  void shouldSayThatTheWayLeadsNowhere() {
    OsProcess.Outcome lost = sql("2>&1", List.of("--url", "unix:/nonexistent"), "-c", "select 1");
    assertTrue(lost.output().contains("could not ask \"unix:/nonexistent\""), lost.output());
    assertTrue(lost.exitCode() > 0);
  }

  private OsProcess.Outcome overHttp(String redirection, String... arguments) {
    return sql(redirection, List.of("--url", "unix:" + socket), arguments);
  }

  private String psql(String... arguments) {
    return OsProcess.run(
            List.of("sh", "-c", line("psql", arguments)),
            cluster.postgres().environment(),
            "",
            LIMIT)
        .output();
  }

  private OsProcess.Outcome shell(String redirection, String... arguments) {
    return sql(
        redirection,
        List.of("--runtime-directory", cluster.endpoint().runtimeDirectory().toString()),
        arguments);
  }

  private static OsProcess.Outcome sql(String redirection, List<String> way, String... arguments) {
    List<String> all = new ArrayList<>(List.of("sql"));
    all.addAll(way);
    all.addAll(List.of(arguments));
    String command = Tools.line(all.toArray(String[]::new));
    return OsProcess.run(List.of("sh", "-c", command + " " + redirection), Map.of(), "", LIMIT);
  }

  private static String line(String program, String... arguments) {
    StringBuilder line = new StringBuilder(program);
    for (String each : arguments) {
      boolean redirection = each.startsWith("2>");
      line.append(' ').append(redirection ? each : "'" + each.replace("'", "'\\''") + "'");
    }
    return line.toString();
  }
}
