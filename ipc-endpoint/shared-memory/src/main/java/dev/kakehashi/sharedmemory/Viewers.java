package dev.kakehashi.sharedmemory;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.protocol.messages.ClientKind;
import dev.kakehashi.transport.endpoint.EndpointSession;
import dev.kakehashi.transport.os.Credentials;

/// Sight of sessions: how much of others each may see.
///
/// The kernel says as which OS user a client runs, and the authenticator as which user of the engine. A PostgreSQL server works for roles
/// of its own, which it alone knows: it is believed as far as it could see by itself.
final class Viewers {
  private Viewers() {}

  /// Principal of a session, see [dev.kakehashi.requests.RequestClient#principal()].
  static String principal(EndpointSession session) {
    return session.uid() == Credentials.ownUid() ? "" : Integer.toString(session.uid());
  }

  /// At the beginning of a session. A backend has not said yet for whom it works.
  static Viewer first(EndpointSession session) {
    Viewer.Sight sight =
        session.kind() == ClientKind.POSTGRESQL_BACKEND
            ? Viewer.Sight.ROLE
            : session.isOperator() ? Viewer.Sight.ALL : Viewer.Sight.USER;
    return new Viewer(principal(session), session.userName(), "", sight);
  }

  /// After the client has said for which role it works.
  ///
  /// @param monitors whether that role may see what all roles do
  static Viewer withRole(EndpointSession session, String role, boolean monitors) {
    // A client that runs as the endpoint's OS user could read it from the endpoint's status.
    boolean all = session.isOperator() || session.uid() == Credentials.ownUid();
    Viewer.Sight sight = monitors ? all ? Viewer.Sight.ALL : Viewer.Sight.USER : Viewer.Sight.ROLE;
    return new Viewer(principal(session), session.userName(), role, sight);
  }
}
