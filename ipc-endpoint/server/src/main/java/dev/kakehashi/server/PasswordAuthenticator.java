package dev.kakehashi.server;

import dev.kakehashi.engine.api.Roles;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.protocol.authentication.Nobodies;
import dev.kakehashi.protocol.authentication.ScramException;
import dev.kakehashi.protocol.authentication.ScramServer;
import dev.kakehashi.protocol.authentication.ScramVerifier;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.endpoint.Authenticator;
import dev.kakehashi.transport.os.Credentials;
import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks every client for a role of the engine, or a user of the endpoint who is no role yet, and a proof of the password (SCRAM-SHA-256).
/// The OS user decides nothing but who may attach at all.
///
/// The password itself stays with the client. The derivation of keys, which costs time on purpose, is the client's work, too: the thread
/// that accepts everybody does four hashes.
final class PasswordAuthenticator implements Authenticator {
  private static final Logger LOG = LoggerFactory.getLogger(PasswordAuthenticator.class);

  private final UserFile users;
  private final Roles roles;

  private final Nobodies nobodies;

  /// The user who sees what all others do: as in PostgreSQL, the one with the name of the OS user who runs the server.
  private final String operator = Credentials.ownUserName();

  PasswordAuthenticator(UserFile users, Roles roles) throws IOException {
    this.users = users;
    this.roles = roles;
    this.nobodies = new Nobodies(users.secret());
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
    Roles.@Nullable Login login = find(name);
    @Nullable String verifier = login == null ? null : verifier(login);
    ScramVerifier asked = nobodies.of(name, verifier);
    boolean exists = verifier != null;
    try {
      ScramServer scram = new ScramServer(asked, requestedUser, authentication);
      boolean mayLogIn = login == null || login.canLogin();
      return new Proof(scram, name, exists, mayLogIn, osUserName);
    } catch (ScramException e) {
      throw malformed(e);
    }
  }

  /// Waits for the proof of one client.
  private final class Proof implements Challenge {
    private final ScramServer scram;
    private final String name;
    private final boolean exists;
    private final boolean mayLogIn;
    private final String osUserName;

    Proof(ScramServer scram, String name, boolean exists, boolean mayLogIn, String osUserName) {
      this.scram = scram;
      this.name = name;
      this.exists = exists;
      this.mayLogIn = mayLogIn;
      this.osUserName = osUserName;
    }

    @Override
    public String message() {
      return scram.first();
    }

    @Override
    public Accepted verify(String response) {
      try {
        String proof = scram.verify(response);
        if (!mayLogIn) {
          // As PostgreSQL says it: to who knows the password.
          throw mayNotLogIn(name);
        }
        return new Accepted(new Identity(name, name.equals(operator)), proof);
      } catch (ScramException e) {
        if (e.reason() != ScramException.Reason.NOT_PROVED) {
          throw malformed(e);
        }
        LOG.warn(
            "password authentication failed for user \"{}\" (OS user {}): {}",
            name,
            osUserName,
            exists ? "wrong password" : "no such user, or no password that is good now");
        throw failure("password authentication failed for user \"" + name + "\"", "");
      }
    }
  }

  private Roles.@Nullable Login find(String name) {
    try {
      if (!roles.equals(Roles.NONE)) {
        return roles.login(name).orElse(null);
      }
      String verifier = users.verifiers().get(name);
      return verifier == null ? null : new Roles.Login(name, false, verifier, true, null, true);
    } catch (EngineException e) {
      throw unreadable(e);
    }
  }

  /// Verifier that the password has to match; null: no password matches now.
  private static @Nullable String verifier(Roles.Login login) {
    return login.isValid(Instant.now()) ? login.verifier() : null;
  }

  static TransportException unreadable(EngineException reason) {
    LOG.error("users cannot be read, nobody can attach: {}", reason.getMessage());
    return new TransportException(
        ErrorCode.AUTHENTICATION_FAILED, "the endpoint could not read its users", reason);
  }

  static TransportException mayNotLogIn(String name) {
    return new TransportException(
        ErrorCode.AUTHENTICATION_FAILED, "role \"" + name + "\" is not permitted to log in");
  }

  private static TransportException malformed(ScramException e) {
    return new TransportException(ErrorCode.MALFORMED_MESSAGE, String.valueOf(e.getMessage()), e);
  }

  private static TransportException failure(String message, String hint) {
    return new TransportException(ErrorCode.INVALID_PASSWORD, message, "", hint, null);
  }
}
