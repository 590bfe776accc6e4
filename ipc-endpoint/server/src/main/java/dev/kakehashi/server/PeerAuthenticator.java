package dev.kakehashi.server;

import dev.kakehashi.engine.api.Roles;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.transport.TransportException;
import dev.kakehashi.transport.endpoint.Authenticator;
import dev.kakehashi.transport.os.Credentials;

/// Trusts the OS user, whom the kernel names and the runtime directory admits, to work as any user of the engine: a PostgreSQL server has
/// authenticated its users itself. Roles that may not log in are refused; somebody who is no role has the rights of everybody. Passwords
/// are refused rather than ignored.
final class PeerAuthenticator implements Authenticator {
  private final Roles roles;

  PeerAuthenticator(Roles roles) {
    this.roles = roles;
  }

  @Override
  public Answer authenticate(
      int uid, String osUserName, String requestedUser, String authentication) {
    if (!authentication.isEmpty()) {
      throw new TransportException(
          ErrorCode.AUTHENTICATION_FAILED,
          "the endpoint does not accept passwords",
          "OS user \"" + osUserName + "\" is authenticated by the operating system.",
          "Remove the option \"password\" from the user mapping, or set \"authentication\" of the endpoint to password.",
          null);
    }
    // Under whatever name: he could as well read the endpoint's status.
    boolean isOperator = uid == Credentials.ownUid();
    String name = requestedUser.isEmpty() ? osUserName : requestedUser;
    try {
      if (roles.areUsed() && roles.login(name).filter(login -> !login.canLogin()).isPresent()) {
        throw PasswordAuthenticator.mayNotLogIn(name);
      }
    } catch (EngineException unreadable) {
      throw PasswordAuthenticator.unreadable(unreadable);
    }
    return new Accepted(new Identity(name, isOperator), "");
  }
}
