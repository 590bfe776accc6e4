package dev.kakehashi.transport.endpoint;

/// Decides as whom a client works on the engine. Used by one thread.
@FunctionalInterface
public interface Authenticator {
  /// As whom a client works.
  ///
  /// @param userName user of the engine
  /// @param isOperator whether this is who runs the endpoint, and may see what everybody does
  record Identity(String userName, boolean isOperator) {}

  /// Answer of the endpoint to a client that attaches.
  sealed interface Answer permits Accepted, Challenge {}

  /// The client is in.
  ///
  /// @param proof that the endpoint knows the user, for a client that has proved who it is; else empty
  record Accepted(Identity identity, String proof) implements Answer {}

  /// The client has to prove who it is. Without side effects until then.
  non-sealed interface Challenge extends Answer {
    /// Message that asks the client for its proof.
    String message();

    /// Called once at most.
    ///
    /// @param response of the client
    /// @throws dev.kakehashi.transport.TransportException INVALID_PASSWORD, MALFORMED_MESSAGE
    Accepted verify(String response);
  }

  /// @param uid OS user of the client, as the kernel says
  /// @param osUserName its name
  /// @param requestedUser user of the engine that the client asks for; empty: the OS user
  /// @param authentication the client's first message of SCRAM-SHA-256; empty: peer authentication
  /// @throws dev.kakehashi.transport.TransportException AUTHENTICATION_FAILED, INVALID_PASSWORD, MALFORMED_MESSAGE
  Answer authenticate(int uid, String osUserName, String requestedUser, String authentication);
}
