package dev.kakehashi.pgtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.EndpointProcess;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.OsUsers;
import dev.kakehashi.pgtests.harness.Workspace;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIf;

/// Clients of other OS users than the endpoint's: who is in the group or on the list attaches and gets a queue of his own; who
/// is not is refused; nobody reaches what belongs to another.
@EnabledIf(
    value = "dev.kakehashi.pgtests.harness.OsUsers#permitted",
    disabledReason = "only root can make OS users")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OtherUsersTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final OsUsers users = OsUsers.create();
  private final String owner = users.add("e", true);
  private final String member = users.add("m", true);
  private final String listed = users.add("l", false);
  private final String stranger = users.add("s", false);
  private Workspace workspace;
  private EndpointProcess endpoint;

  /// Sessions that last: a queue that nobody has used for ten seconds is gone, and what belongs to its user with it.
  private final List<Process> attached = new ArrayList<>();

  OtherUsersTest() throws IOException {
    workspace = Workspace.create("users");
    for (Path directory : List.of(workspace.disk(), workspace.memory())) {
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
      Files.setOwner(
          directory,
          directory.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(owner));
    }
    endpoint =
        EndpointProcess.startAs(
            Installation.asUser(owner),
            workspace.memory().resolve("run"),
            workspace.disk(),
            "attach_timeout=60s",
            "group=" + users.group(),
            "allowed_users=" + listed);
  }

  @BeforeAll
  void attachEach() throws IOException {
    for (String user : List.of(owner, member, listed)) {
      var command = new ArrayList<>(Installation.asUser(user));
      command.addAll(
          List.of(
              "env",
              "REQUIREPEER=" + owner,
              Installation.ping().toString(),
              run().toString(),
              "100",
              "64",
              "stay"));
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      attached.add(process);
      BufferedReader output = process.inputReader();
      assertEquals("300 attaches", until(output.readLine(), ":"), user);
      assertEquals("100 pings of 64 bytes, there and back", until(output.readLine(), ":"), user);
    }
  }

  private static String until(@Nullable String line, String separator) {
    return line == null ? "" : line.split(separator, 2)[0];
  }

  @AfterAll
  void stop() {
    attached.forEach(OsProcess::kill);
    endpoint.close();
    workspace.close();
    users.close();
  }

  private Path run() {
    return endpoint.runtimeDirectory();
  }

  private static OsProcess.Outcome as(String user, String... command) {
    var all = new ArrayList<>(Installation.asUser(user));
    all.addAll(List.of(command));
    return OsProcess.runAsSelf(all, LIMIT);
  }

  private OsProcess.Outcome ping(String user) {
    return as(
        user,
        "env",
        "REQUIREPEER=" + owner,
        Installation.ping().toString(),
        run().toString(),
        "100");
  }

  /// The queue directories of a user.
  private List<Path> queues(String user) throws IOException {
    try (Stream<Path> queues = Files.list(run().resolve("queues"))) {
      return queues
          .filter(path -> path.getFileName().toString().startsWith(OsUsers.uid(user) + "-"))
          .toList();
    }
  }

  @Test
  void shouldGiveEachUserAQueueOfHisOwn() throws IOException {
    for (String user : List.of(owner, member, listed)) {
      assertTrue(!queues(user).isEmpty(), user);
    }
    List<String> prefixes =
        Stream.of(owner, member, listed).map(user -> OsUsers.uid(user) + "-").toList();
    try (Stream<Path> all = Files.list(run().resolve("queues"))) {
      assertEquals(
          List.of(),
          all.filter(path -> prefixes.stream().noneMatch(path.getFileName().toString()::startsWith))
              .toList());
    }
  }

  @Test
  void shouldRefuseAStrangerAndSayWhy() throws IOException {
    OsProcess.Outcome outcome = ping(stranger);
    assertEquals(1, outcome.exitCode(), outcome.output());
    assertTrue(
        outcome.output().contains("08001") && outcome.output().contains("Permission denied"),
        outcome.output());
    assertEquals(List.of(), queues(stranger));
  }

  @Test
  void shouldNotTrustAnEndpointOfAnotherUserUnlessToldSo() {
    OsProcess.Outcome outcome = as(member, Installation.ping().toString(), run().toString(), "100");
    assertEquals(1, outcome.exitCode(), outcome.output());
    assertTrue(
        outcome.output().contains("28000")
            && outcome.output().contains("belongs to OS user \"" + owner + "\""),
        outcome.output());
  }

  /// More connections than wait at a time, and none of them says who it is: the room is for others, too.
  @Test
  void shouldLetOthersInWhileOneUserConnectsAndSaysNothing() throws IOException {
    var command = new ArrayList<>(Installation.asUser(member));
    command.addAll(
        List.of(
            "perl",
            "-MSocket",
            "-e",
            "$| = 1; for (1 .. 400) {"
                + " socket($all[$_], PF_UNIX, SOCK_STREAM, 0) && connect($all[$_], sockaddr_un($ARGV[0])) or die $! }"
                + " print qq(connected\n); <STDIN>",
            run().resolve("endpoint.sock").toString()));
    Process silent = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (var said = silent.inputReader()) {
      assertEquals("connected", said.readLine());
      for (String user : List.of(owner, listed, member)) {
        OsProcess.Outcome outcome = ping(user);
        assertEquals(0, outcome.exitCode(), user + ": " + outcome.output());
      }
      assertTrue(silent.isAlive(), "its connections are still there");
    } finally {
      OsProcess.kill(silent);
    }
  }

  @Test
  void shouldKeepUsersFromReadingAndWritingWhatBelongsToAnother() throws IOException {
    List<Path> ofMember = new ArrayList<>();
    for (Path queue : queues(member)) {
      try (Stream<Path> files = Files.list(queue)) {
        files.forEach(ofMember::add);
        ofMember.add(queue);
      } catch (NoSuchFileException gone) {
        // Other tests ping as this user. Their queues go when they were idle, also while these are
        // looked at.
        assertFalse(Files.exists(queue), queue.toString());
      }
    }
    ofMember.add(run().resolve("mailboxes").resolve(OsUsers.uid(member)));
    ofMember.add(run().resolve("arena").resolve(OsUsers.uid(member)));
    var lasting = new ArrayList<Path>();
    for (Path path : ofMember) {
      for (String other : List.of(listed, stranger)) {
        for (String access : List.of("-r", "-w")) {
          OsProcess.Outcome outcome = as(other, "test", access, path.toString());
          assertEquals(1, outcome.exitCode(), other + " may " + access + " " + path);
        }
      }
      boolean isWritable = as(member, "test", "-w", path.toString()).exitCode() == 0;
      if (Files.exists(path)) {
        assertTrue(isWritable, "own " + path);
        lasting.add(path);
      }
    }
    assertTrue(
        lasting.size() >= 5, "a queue, a table, a cycle file, a mailbox, an arena: " + lasting);
    for (String shared : List.of("control", "queues", "mailboxes", "arena", "")) {
      OsProcess.Outcome outcome = as(member, "test", "-w", run().resolve(shared).toString());
      assertEquals(1, outcome.exitCode(), "a client may change " + run().resolve(shared));
    }
  }
}
