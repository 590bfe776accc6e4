package dev.kakehashi.server.standby;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.client.Session;
import dev.kakehashi.server.Command;
import dev.kakehashi.server.EndpointProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The scripts of `examples/failover`, called as keepalived and Patroni call them. Each endpoint is a machine.
@SuppressWarnings("NullAway.Init") // set before each test
@Timeout(240)
class FailoverExamplesTest {
  private static final Path EXAMPLE =
      Path.of("../../examples/failover").toAbsolutePath().normalize();
  private static final Path FAILOVER = EXAMPLE.resolve("kakehashi-failover");
  private static final Path NOTIFY = EXAMPLE.resolve("keepalived/kakehashi-notify");
  private static final Path ROLE_CHANGE = EXAMPLE.resolve("patroni/kakehashi-role-change");
  private static final String IDS = "select id::text from entry order by entry.id";

  private StandbyPair pair;
  @TempDir private Path home;

  @BeforeEach
  void start() throws Exception {
    pair = StandbyPair.open(home);
    for (EndpointProcess each : List.of(pair.primary, pair.standby)) {
      Path conf = pair.config(each);
      Files.writeString(
          conf,
          "data_directory = %s%nruntime_directory = %s%n"
              .formatted(each.dataDirectory(), each.runtimeDirectory()),
          StandardOpenOption.APPEND);
      Path machine = Files.createDirectory(machine(each));
      List<String> words = new ArrayList<>();
      EndpointProcess.javaCommand().forEach(word -> words.add("'" + word + "'"));
      script(
          machine.resolve("kakehashi"), "#!/bin/sh\nexec " + String.join(" ", words) + " \"$@\"\n");
      // It returns when the endpoint is ready, as systemd does.
      script(
          machine.resolve("start"),
          """
          #!/bin/sh
          : >'%1$s/out'
          setsid '%1$s/kakehashi' start -c '%2$s' >>'%1$s/out' 2>&1 </dev/null &
          pid=$!
          until grep -qx ready '%1$s/out'; do
            kill -0 $pid || { cat '%1$s/out'; exit 1; }
            sleep 0.1
          done
          """
              .formatted(machine, conf));
      configure(each, "patience = 60");
    }
    try (Session session = pair.primary.attach()) {
      session.execute("create table entry (id int8 primary key)");
    }
    pair.followBackup();
    insert(pair.primary, 1);
    pair.awaitStandby();
  }

  @AfterEach
  void stop() throws IOException {
    for (EndpointProcess each : List.of(pair.primary, pair.standby)) {
      // Scripts have started processes that nobody here knows.
      if (pair.ask(each, "status").exitCode() != 3) {
        pair.ask(each, "stop").expect(0);
      }
    }
    pair.close();
  }

  private Path machine(EndpointProcess of) {
    return home.resolve(of == pair.primary ? "machine0" : "machine1");
  }

  private static void script(Path file, String text) throws IOException {
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  private void configure(EndpointProcess of, String... settings) throws IOException {
    Path machine = machine(of);
    List<String> all = new ArrayList<>(List.of(settings));
    all.add("# of a test");
    all.add("program = " + machine.resolve("kakehashi"));
    all.add("conf = " + pair.config(of));
    all.add("user = " + System.getProperty("user.name"));
    all.add("start = " + machine.resolve("start"));
    all.add("stop = %s stop -c %s".formatted(machine.resolve("kakehashi"), pair.config(of)));
    all.add("run = " + machine.resolve("run"));
    Files.write(machine.resolve("failover.conf"), all);
  }

  /// Runs a script of the example on a machine.
  private Command on(EndpointProcess of, Path script, String... words) {
    List<String> command = new ArrayList<>(List.of(script.toString()));
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder
        .environment()
        .put("KAKEHASHI_FAILOVER_CONF", machine(of).resolve("failover.conf").toString());
    builder.environment().put("KAKEHASHI_FAILOVER", FAILOVER.toString());
    builder.environment().put("KAKEHASHI_NOTIFY_STATE", machine(of).resolve("master").toString());
    try {
      Process process = builder.start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Command(process.waitFor(), said);
    } catch (IOException e) {
      throw new CompletionException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CompletionException(e);
    }
  }

  private Command notify(EndpointProcess of, String state) {
    return on(of, NOTIFY, "INSTANCE", "kakehashi", state, "100");
  }

  private Command roleChange(EndpointProcess of, String role) {
    return on(of, ROLE_CHANGE, "on_role_change", role, "main");
  }

  private static void insert(EndpointProcess into, long id) {
    try (Session session = into.attach()) {
      session.execute("insert into entry values (%d)".formatted(id));
    }
  }

  @Test
  void shouldTakeOverWhenKeepalivedSaysSo() throws Exception {
    EndpointProcess first = pair.primary;
    EndpointProcess second = pair.standby;
    // As keepalived asks, and as it tells at its start.
    on(first, FAILOVER, "alive").expect(0);
    on(first, FAILOVER, "serving").expect(0);
    on(second, FAILOVER, "alive").expect(0);
    on(second, FAILOVER, "serving").expect(1, "does not serve: standby");
    notify(first, "BACKUP").expect(0);
    notify(second, "BACKUP").expect(0);
    notify(first, "MASTER").expect(0, "serves already");
    // keepalived's network is lost, and the endpoint's is not.
    configure(second, "patience = 1");
    notify(second, "MASTER").expect(1, "still listens at 127.0.0.1", "nothing is promoted");
    notify(second, "BACKUP").expect(0, "a standby already");
    configure(second, "patience = 60");
    on(second, FAILOVER, "serving").expect(1);

    first.kill();
    on(first, FAILOVER, "alive").expect(1, "no endpoint runs");
    on(first, FAILOVER, "serving").expect(1, "does not serve: down");
    notify(second, "MASTER").expect(0, "promoted; the log goes on at 2/");
    notify(second, "MASTER").expect(0, "serves already");
    on(second, FAILOVER, "serving").expect(0);
    insert(second, 2);
    // The old one refuses to serve, and is told to follow.
    on(first, machine(first).resolve("kakehashi"), "start", "-c", pair.config(first).toString())
        .expect(1, "has taken over");
    notify(first, "FAULT").expect(0, "rejoined at 2/");
    notify(first, "FAULT").expect(0);
    on(first, FAILOVER, "alive").expect(0);
    on(first, FAILOVER, "serving").expect(1, "does not serve: standby");
    pair.await(first, second);
    assertEquals(List.of("1", "2"), StandbyPair.column(first, IDS));
  }

  @Test
  void shouldSwitchOverWhenPatroniDoes() throws Exception {
    EndpointProcess first = pair.primary;
    EndpointProcess second = pair.standby;
    roleChange(first, "primary").expect(0, "serves already");
    roleChange(second, "replica").expect(0, "a standby already");
    // Patroni calls both at about the same time.
    CompletableFuture<Command> promoted =
        CompletableFuture.supplyAsync(() -> roleChange(second, "primary"));
    roleChange(first, "replica").expect(0, "rejoined at 2/");
    promoted.get(60, TimeUnit.SECONDS).expect(0, "promoted; the log goes on at 2/");
    roleChange(first, "replica").expect(0, "a standby already");
    roleChange(second, "master").expect(0, "serves already");
    insert(second, 2);
    pair.await(first, second);
    assertEquals(List.of("1", "2"), StandbyPair.column(first, IDS));
  }

  @Test
  void shouldThrowAwayNothingUnlessItIsSet() throws Exception {
    EndpointProcess first = pair.primary;
    EndpointProcess second = pair.standby;
    second.kill();
    insert(first, 100);
    first.kill();
    // It does not run, and is started for it.
    roleChange(second, "primary").expect(0, "promoted; the log goes on at 2/");
    configure(first, "patience = 1");
    roleChange(first, "replica").expect(1, "nothing is changed", "--discard", "stays stopped");
    // As systemd does before a start, which refuses then.
    on(first, FAILOVER, "rejoin").expect(0, "--discard", "goes on to the start");
    configure(first, "patience = 60", "discard = yes");
    roleChange(first, "demoted").expect(0, "rejoined at 2/");
    pair.await(first, second);
    assertEquals(List.of("1"), StandbyPair.column(first, IDS));
  }

  @Test
  void shouldPromoteWhenTheOtherMachineIsFenced() throws Exception {
    EndpointProcess first = pair.primary;
    EndpointProcess second = pair.standby;
    Path fence = home.resolve("fence");
    script(fence, "#!/bin/sh\necho \"no power switch of $1\"\nexit 1\n");
    configure(second, "fence = " + fence);
    notify(second, "MASTER")
        .expect(1, "no power switch of 127.0.0.1", "did not fence the other machine");
    on(second, FAILOVER, "serving").expect(1, "does not serve: standby");
    script(
        fence,
        "#!/bin/sh\nexec '%s' stop -c '%s'\n"
            .formatted(machine(first).resolve("kakehashi"), pair.config(first)));
    notify(second, "MASTER").expect(0, "promoted; the log goes on at 2/");
    on(first, FAILOVER, "alive").expect(1, "no endpoint runs");
    insert(second, 2);
  }

  @Test
  void shouldRefuseWhatItDoesNotKnow() throws Exception {
    EndpointProcess second = pair.standby;
    on(second, FAILOVER).expect(2, "is required");
    on(second, FAILOVER, "takeover").expect(2, "there is no \"takeover\"");
    notify(second, "UNKNOWN").expect(2, "there is no state");
    roleChange(second, "witness").expect(2, "there is no role");
    on(second, ROLE_CHANGE, "on_stop", "primary", "main").expect(2, "are required");
    configure(second, "patients = 60");
    on(second, FAILOVER, "promote").expect(2, "there is no setting \"patients\"");
    configure(second, "discard = perhaps");
    on(second, FAILOVER, "promote").expect(2, "has to be yes or no");
    configure(second, "patience = long");
    on(second, FAILOVER, "promote").expect(2, "a number of seconds");
    configure(second, "patience");
    on(second, FAILOVER, "promote").expect(2, "is no setting");
    assertTrue(
        pair.ask(second, "status").output().contains("standby of"), "it is a standby as before");
  }
}
