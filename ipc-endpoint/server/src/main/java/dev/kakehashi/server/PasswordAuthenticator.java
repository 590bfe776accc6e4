package dev.kakehashi.server;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.endpoint.Authenticator;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks every client for a user of the endpoint and the password. The OS user decides nothing but who may attach at all.
///
/// A password crosses the attach socket as it is: nobody but the kernel is in between, and who can read the memory of either
/// end has it anyway.
final class PasswordAuthenticator implements Authenticator {
  private static final Logger LOG = LoggerFactory.getLogger(PasswordAuthenticator.class);

  private final UserFile users;

  /// The user who sees what all others do: as in PostgreSQL, the one with the name of the OS user who runs the server.
  private final String operator = Credentials.ownUserName();

  /// Compared with when there is no such user, so that the time of the answer does not say so.
  private final ScramVerifier nobody = ScramVerifier.of("nobody has this password".toCharArray());

  PasswordAuthenticator(UserFile users) {
    this.users = users;
  }

  @Override
  public Identity authenticate(int uid, String osUserName, String requestedUser, String password) {
    String name = requestedUser.isEmpty() ? osUserName : requestedUser;
    if (password.isEmpty()) {
      throw failure(
          "no password given for user \"" + name + "\"",
          "Set the options \"user\" and \"password\" of the user mapping.");
    }
    ScramVerifier verifier = find(name);
    // Both in every case: the time says nothing.
    boolean matches = (verifier == null ? nobody : verifier).matches(password.toCharArray());
    if (verifier == null || !matches) {
      LOG.warn(
          "password authentication failed for user \"{}\" (OS user {}): {}",
          name,
          osUserName,
          verifier == null ? "no such user" : "wrong password");
      throw failure("password authentication failed for user \"" + name + "\"", "");
    }
    return new Identity(name, name.equals(operator));
  }

  private @Nullable ScramVerifier find(String name) {
    try {
      return users.find(name);
    } catch (IOException | SettingsException e) {
      LOG.error("users cannot be read, nobody can attach: {}", e.getMessage());
      throw new TransportException(
          ErrorCode.AUTHENTICATION_FAILED, "the endpoint could not read its users", e);
    }
  }

  private static TransportException failure(String message, String hint) {
    return new TransportException(ErrorCode.INVALID_PASSWORD, message, "", hint, null);
  }
}
