package dev.kakehashi.pgtests.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.pgtests.harness.EndpointProcess;
import dev.kakehashi.pgtests.harness.Installation;
import dev.kakehashi.pgtests.harness.OsProcess;
import dev.kakehashi.pgtests.harness.OsUsers;
import dev.kakehashi.pgtests.harness.ProcessSockets;
import dev.kakehashi.pgtests.harness.Workspace;
import dev.kakehashi.testsupport.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/// Processes of applications with an OS user of their own: they serve calls, and reach nothing of the endpoint's.
@EnabledIf(
    value = "dev.kakehashi.pgtests.harness.OsUsers#permitted",
    disabledReason = "only root can make OS users, and have processes of others")
class ApplicationUserTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String DEPLOY = "/v1/applications/library?isolation=process";
  private static final String CALL = "SELECT with_tax(price, 10) FROM (VALUES (100.0)) t(price)";

  /// Sends a request as root, whom the kernel vouches for.
  ///
  /// @return status and body
  private static String send(EndpointProcess endpoint, String... words) {
    var command =
        new ArrayList<>(
            List.of("curl", "--silent", "--show-error", "--write-out", " %{http_code}"));
    command.addAll(
        List.of("--unix-socket", endpoint.runtimeDirectory().resolveSibling("http").toString()));
    command.addAll(List.of(words).subList(1, words.length));
    command.add("http://localhost" + words[0]);
    return OsProcess.runOkAsSelf(command, LIMIT);
  }

  private static Path socket(Workspace workspace) {
    return workspace.memory().resolve("http");
  }

  /// Deploys the library, as soon as HTTP listens.
  private static String deploy(EndpointProcess endpoint) {
    Await.until(
        "HTTP of the endpoint",
        LIMIT,
        () ->
            ProcessSockets.listens(
                endpoint.pid(), endpoint.runtimeDirectory().resolveSibling("http")));
    return send(
        endpoint,
        DEPLOY,
        "--request",
        "PUT",
        "--header",
        "Content-Type: application/java-archive",
        "--data-binary",
        "@" + Installation.exampleJar("functions"));
  }

  private static String call(EndpointProcess endpoint) {
    return send(
        endpoint, "/v1/sql", "--header", "Content-Type: application/sql", "--data-binary", CALL);
  }

  /// The one process of the endpoint.
  private static ProcessHandle process(EndpointProcess endpoint) {
    ProcessHandle parent = ProcessHandle.of(endpoint.pid()).orElseThrow();
    Await.until("a process of the application", LIMIT, () -> parent.children().count() == 1);
    return parent.children().findFirst().orElseThrow();
  }

  /// User and group numbers, and capabilities, of a process.
  private static List<String> rights(ProcessHandle process) throws IOException {
    return Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")).stream()
        .filter(line -> line.matches("(Uid|Gid|Groups|CapEff|CapPrm|CapAmb|NoNewPrivs):.*"))
        .map(line -> line.replaceAll("\\s+", " ").strip())
        .toList();
  }

  @Test
  void shouldRunAnApplicationAsAUserWhoReachesNothingOfTheEndpoint() throws IOException {
    try (OsUsers users = OsUsers.create();
        Workspace workspace = Workspace.create("user")) {
      String user = users.add("a", true);
      for (Path directory : List.of(workspace.disk(), workspace.memory())) {
        Files.setOwner(
            directory,
            directory
                .getFileSystem()
                .getUserPrincipalLookupService()
                .lookupPrincipalByName("root"));
      }
      try (EndpointProcess endpoint =
          EndpointProcess.startAs(
              List.of("env"),
              workspace.memory().resolve("run"),
              workspace.disk(),
              "http_socket=" + socket(workspace),
              "application_user=" + user)) {
        assertTrue(deploy(endpoint).endsWith("201"), "deployed");
        String first = call(endpoint);
        assertTrue(first.contains("110.00") && first.endsWith("200"), first);
        ProcessHandle process = process(endpoint);
        String uid = OsUsers.uid(user);
        String gid = OsProcess.runOkAsSelf(List.of("id", "-g", user), LIMIT).strip();
        assertEquals(
            List.of(
                "Uid: " + String.join(" ", uid, uid, uid, uid),
                "Gid: " + String.join(" ", gid, gid, gid, gid),
                "Groups:",
                "CapPrm: 0000000000000000",
                "CapEff: 0000000000000000",
                "CapAmb: 0000000000000000",
                "NoNewPrivs: 1"),
            rights(process));
        for (Path closed : List.of(endpoint.runtimeDirectory(), endpoint.dataDirectory())) {
          var look = new ArrayList<>(Installation.asUser(user));
          look.addAll(List.of("ls", closed.toString()));
          assertTrue(OsProcess.runAsSelf(look, LIMIT).exitCode() != 0, closed.toString());
        }
        // It dies, and the next one is the same user's.
        process.destroyForcibly();
        process.onExit().join();
        String next = call(endpoint);
        assertTrue(next.contains("110.00") && next.endsWith("200"), next);
        assertTrue(rights(process(endpoint)).contains("Groups:"), "without groups");
        try (Stream<Path> left = Files.walk(endpoint.runtimeDirectory())) {
          assertEquals(
              List.of(),
              left.filter(path -> path.getFileName().toString().startsWith("application-"))
                  .toList(),
              "the link has no name once both sides have it");
        }
      }
    }
  }
}
