package dev.kakehashi.transport.endpoint;

/// Decides as whom a client works on the engine.
@FunctionalInterface
public interface Authenticator {
  /// @param uid OS user of the client, as the kernel says
  /// @param osUserName its name
  /// @param requestedUser user of the engine that the client asks for; empty: the OS user
  /// @param password empty: peer authentication
  /// @return user of the engine
  /// @throws dev.kakehashi.transport.TransportException AUTHENTICATION_FAILED
  String authenticate(int uid, String osUserName, String requestedUser, String password);
}
