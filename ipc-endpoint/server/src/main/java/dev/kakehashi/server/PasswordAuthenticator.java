package dev.kakehashi.server;

import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.authentication.ScramException;
import dev.kakehashi.protocol.authentication.ScramServer;
import dev.kakehashi.protocol.authentication.ScramVerifier;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.endpoint.Authenticator;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks every client for a user of the endpoint and a proof of the password (SCRAM-SHA-256). The OS user decides nothing but who may attach at all.
///
/// The password itself stays with the client. The derivation of keys, which costs time on purpose, is the client's work, too: the thread that accepts everybody does four hashes.
final class PasswordAuthenticator implements Authenticator {
  private static final Logger LOG = LoggerFactory.getLogger(PasswordAuthenticator.class);

  private final UserFile users;

  /// Salts of users who do not exist, so that they look as those who do; the same after a restart.
  private final byte[] secret;

  /// The user who sees what all others do: as in PostgreSQL, the one with the name of the OS user who runs the server.
  private final String operator = Credentials.ownUserName();

  PasswordAuthenticator(UserFile users) throws IOException {
    this.users = users;
    this.secret = users.secret();
  }

  @Override
  public Answer authenticate(
      int uid, String osUserName, String requestedUser, String authentication) {
    String name = requestedUser.isEmpty() ? osUserName : requestedUser;
    if (authentication.isEmpty()) {
      throw failure(
          "no password given for user \"" + name + "\"",
          "Set the options \"user\" and \"password\" of the user mapping.");
    }
    @Nullable ScramVerifier verifier = find(name);
    // Made in every case: the time says nothing.
    ScramVerifier nobody = ScramVerifier.ofNobody(secret, name);
    boolean exists = verifier != null;
    try {
      ScramServer scram =
          new ScramServer(verifier == null ? nobody : verifier, requestedUser, authentication);
      return new Proof(scram, name, exists, osUserName);
    } catch (ScramException e) {
      throw malformed(e);
    }
  }

  /// Waits for the proof of one client.
  private final class Proof implements Challenge {
    private final ScramServer scram;
    private final String name;
    private final boolean exists;
    private final String osUserName;

    Proof(ScramServer scram, String name, boolean exists, String osUserName) {
      this.scram = scram;
      this.name = name;
      this.exists = exists;
      this.osUserName = osUserName;
    }

    @Override
    public String message() {
      return scram.first();
    }

    @Override
    public Accepted verify(String response) {
      try {
        return new Accepted(new Identity(name, name.equals(operator)), scram.verify(response));
      } catch (ScramException e) {
        if (e.reason() != ScramException.Reason.NOT_PROVED) {
          throw malformed(e);
        }
        LOG.warn(
            "password authentication failed for user \"{}\" (OS user {}): {}",
            name,
            osUserName,
            exists ? "wrong password" : "no such user");
        throw failure("password authentication failed for user \"" + name + "\"", "");
      }
    }
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

  private static TransportException malformed(ScramException e) {
    return new TransportException(ErrorCode.MALFORMED_MESSAGE, String.valueOf(e.getMessage()), e);
  }

  private static TransportException failure(String message, String hint) {
    return new TransportException(ErrorCode.INVALID_PASSWORD, message, "", hint, null);
  }
}
