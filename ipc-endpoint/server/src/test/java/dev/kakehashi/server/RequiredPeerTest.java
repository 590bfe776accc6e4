package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kakehashi.client.AttachOptions;
import dev.kakehashi.client.EndpointException;
import dev.kakehashi.client.Session;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Whom Java clients and the commands trust to be the endpoint; the extension's rules are the same.
class RequiredPeerTest {
  /// Nobody's number in practice.
  private static final String ANOTHER = "54321";

  private TestEndpoint endpoint;

  @BeforeEach
  void start() throws IOException {
    endpoint = TestEndpoint.start();
  }

  @AfterEach
  void stop() throws IOException {
    endpoint.close();
  }

  private static void mode(Path directory, String permissions) throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(permissions));
  }

  private static EndpointException refused(
      Path directory, String peer, String sqlstate, String part) {
    AttachOptions options = AttachOptions.of(directory).withRequirePeer(peer);
    EndpointException e = assertThrows(EndpointException.class, () -> Session.attach(options));
    assertEquals(sqlstate, e.sqlstate(), e.toString());
    assertTrue(e.toString().contains(part), e.toString());
    return e;
  }

  @Test
  void shouldAttachToAnEndpointOfTheNamedUser() {
    for (String own :
        new String[] {Credentials.ownUserName(), Integer.toString(Credentials.ownUid())}) {
      AttachOptions options = AttachOptions.of(endpoint.runtimeDirectory()).withRequirePeer(own);
      try (Session session = Session.attach(options)) {
        assertTrue(session.isAlive());
      }
    }
  }

  @Test
  void shouldRefuseAnEndpointOfAnotherUser() {
    Path run = endpoint.runtimeDirectory();
    EndpointException e = refused(run, ANOTHER, "28000", "not to \"" + ANOTHER + "\"");
    assertTrue(
        e.failure().hint().contains("--requirepeer " + Credentials.ownUserName()), e.toString());
    refused(run, "no such user", "08001", "does not exist");
    refused(run, "-1", "08001", "does not exist");
  }

  @Test
  void shouldRefuseADirectoryThatOthersMayChange() throws IOException {
    Path run = endpoint.runtimeDirectory();
    mode(run, "rwxrwx---");
    refused(run, "", "28000", "may be changed by other OS users");
    // Sticky or not: others could make what is not there yet.
    Files.setAttribute(run, "unix:mode", 01777);
    refused(run, "", "28000", "may be changed by other OS users");
    mode(run, "rwx------");
  }

  @Test
  void shouldRefuseADirectoryBelowOneThatOthersMayChange() throws IOException {
    Path run = endpoint.runtimeDirectory();
    Path above = java.util.Objects.requireNonNull(run.getParent());
    Path link = Files.createSymbolicLink(above.resolve("link"), Path.of("run"));
    mode(above, "rwxrwxrwx");
    refused(run, "", "28000", "leads to the endpoint");
    refused(link, "", "28000", "leads to the endpoint");
    // There nobody can move what is another's.
    Files.setAttribute(above, "unix:mode", 01777);
    try (Session session = Session.attach(AttachOptions.of(link))) {
      assertTrue(session.isAlive());
    }
    mode(above, "rwx------");
    refused(above.resolve("none"), "", "08001", "no such directory");
  }

  /// The other has given its directory the right owner, as by a mount; only the kernel knows who listens.
  @Test
  void shouldSendNothingToWhoListensInTheDirectoryOfAnother() throws IOException {
    assumeTrue(Credentials.ownUid() == 0, "only root can give a directory to another user");
    Path directory = Files.createTempDirectory(Path.of("/dev/shm"), "kakehashi-test-");
    Path socket = directory.resolve("endpoint.sock");
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      Files.setAttribute(directory, "unix:uid", Integer.parseInt(ANOTHER));
      refused(directory, "", "28000", "runtime directory");
      refused(directory, ANOTHER, "28000", "endpoint at");
      // The first was refused before it connected.
      try (SocketChannel client = server.accept()) {
        assertEquals(-1, client.read(ByteBuffer.allocate(1)));
      }
    } finally {
      Files.delete(socket);
      Files.delete(directory);
    }
  }

  @Test
  void shouldHoldForTheCommandsToo() throws IOException {
    try (EndpointProcess process = EndpointProcess.open()) {
      String data = process.dataDirectory().toString();
      Command.run("status", "-D", data, "--requirepeer", Credentials.ownUserName())
          .expect(0, "endpoint is ready");
      for (String command : new String[] {"status", "reload", "dump-schema"}) {
        Command.run(command, "-D", data, "--requirepeer", ANOTHER)
            .expect(
                1, "belongs to OS user", "HINT:  ", "--requirepeer " + Credentials.ownUserName());
      }
      Command.run("backup", data + "-copy", "-D", data, "--requirepeer", ANOTHER)
          .expect(1, "belongs to OS user");
      mode(process.runtimeDirectory(), "rwxrwxrwx");
      Command.run("status", "-D", data).expect(1, "may be changed by other OS users");
      mode(process.runtimeDirectory(), "rwx------");
    }
  }
}
