package dev.kakehashi.rest.server;

import dev.kakehashi.rest.login.Authentication;
import dev.kakehashi.rest.route.Route;
import java.util.List;

/// Routes for people with a browser. They are for everybody who reaches the listener, and find out by themselves who asks, as by a cookie.
@FunctionalInterface
public interface DoorPages {
  /// Called once, before the door opens.
  ///
  /// @param authentication of the door, which proves users and keeps their tokens
  List<Route> routes(Authentication authentication);
}
