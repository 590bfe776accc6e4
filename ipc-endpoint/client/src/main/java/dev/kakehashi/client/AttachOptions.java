package dev.kakehashi.client;

import java.nio.file.Path;
import java.time.Duration;

/// How to attach.
///
/// @param runtimeDirectory of the endpoint
/// @param requirePeer OS user, by name or number, that the endpoint has to run as; empty: our own
/// @param applicationName for displays
/// @param userName user of the engine; empty: the OS user
/// @param password proved, never sent; empty: peer authentication
/// @param timeout for the answer of the endpoint
public record AttachOptions(
    Path runtimeDirectory,
    String requirePeer,
    String applicationName,
    String userName,
    String password,
    Duration timeout) {

  public static AttachOptions of(Path runtimeDirectory) {
    return new AttachOptions(runtimeDirectory, "", "java", "", "", Duration.ofSeconds(10));
  }

  public AttachOptions withRequirePeer(String osUser) {
    return new AttachOptions(
        runtimeDirectory, osUser, applicationName, userName, password, timeout);
  }

  public AttachOptions withApplicationName(String name) {
    return new AttachOptions(runtimeDirectory, requirePeer, name, userName, password, timeout);
  }

  public AttachOptions withUser(String name, String secret) {
    return new AttachOptions(runtimeDirectory, requirePeer, applicationName, name, secret, timeout);
  }
}
