package dev.kakehashi.client;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.os.MeantEndpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// How to attach.
///
/// @param runtimeDirectory of the endpoint
/// @param requirePeer OS user, by name or number, that the endpoint has to run as; empty: our own
/// @param applicationName for displays
/// @param userName user of the engine; empty: the OS user
/// @param password proved, never sent; empty: peer authentication
/// @param timeout for the answer of the endpoint
/// @param directReads whether the session maps the endpoint's memory for reading, where the endpoint gives it, and reads rows there
public record AttachOptions(
    Path runtimeDirectory,
    String requirePeer,
    String applicationName,
    String userName,
    String password,
    Duration timeout,
    boolean directReads) {

  public static AttachOptions of(Path runtimeDirectory) {
    return new AttachOptions(runtimeDirectory, "", "java", "", "", Duration.ofSeconds(10), true);
  }

  /// To the endpoint that is meant where a command says no more: `KAKEHASHI_RUNTIME_DIR` and `KAKEHASHI_REQUIREPEER` name it, else the file
  /// of `KAKEHASHI_CLIENT_CONF`.
  ///
  /// @param runtimeDirectory null: the environment's
  /// @param requirePeer empty: the environment's
  /// @throws EndpointException 08001 when nothing names an endpoint, or the file cannot be read
  public static AttachOptions usual(@Nullable Path runtimeDirectory, String requirePeer) {
    try {
      MeantEndpoint meant = MeantEndpoint.of(runtimeDirectory, requirePeer);
      return of(meant.directory()).withRequirePeer(meant.requiredPeer());
    } catch (TransportException e) {
      throw new EndpointException(e.failure(), e);
    } catch (IOException e) {
      throw EndpointException.of(
          ErrorCode.CANNOT_CONNECT, "could not read \"" + e.getMessage() + "\"", e);
    }
  }

  public AttachOptions withRequirePeer(String osUser) {
    return new AttachOptions(
        runtimeDirectory, osUser, applicationName, userName, password, timeout, directReads);
  }

  public AttachOptions withApplicationName(String name) {
    return new AttachOptions(
        runtimeDirectory, requirePeer, name, userName, password, timeout, directReads);
  }

  public AttachOptions withUser(String name, String secret) {
    return new AttachOptions(
        runtimeDirectory, requirePeer, applicationName, name, secret, timeout, directReads);
  }

  /// Without direct reads nothing of the endpoint's rows is mapped, and each statement is a request.
  public AttachOptions withDirectReads(boolean whether) {
    return new AttachOptions(
        runtimeDirectory, requirePeer, applicationName, userName, password, timeout, whether);
  }
}
