package dev.kakehashi.transport.endpoint;

/// Decides as whom a client works on the engine.
@FunctionalInterface
public interface Authenticator {
  /// As whom a client works.
  ///
  /// @param userName user of the engine
  /// @param isOperator whether this is who runs the endpoint, and may see what everybody does
  record Identity(String userName, boolean isOperator) {}

  /// @param uid OS user of the client, as the kernel says
  /// @param osUserName its name
  /// @param requestedUser user of the engine that the client asks for; empty: the OS user
  /// @param password empty: peer authentication
  /// @return as whom it works
  /// @throws dev.kakehashi.transport.TransportException AUTHENTICATION_FAILED
  Identity authenticate(int uid, String osUserName, String requestedUser, String password);
}
