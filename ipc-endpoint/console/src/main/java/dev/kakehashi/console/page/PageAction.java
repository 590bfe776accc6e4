package dev.kakehashi.console.page;

import java.util.Set;

/// Action of a form of a page.
///
/// @param path to which the form is sent
/// @param fields that it may have, besides `csrf`
record PageAction(String path, Set<String> fields, Act act) {
  /// Does it. Throws a Problem or an EngineException.
  @FunctionalInterface
  interface Act {
    Outcome act(ActionView view);
  }

  /// Outcome of an action.
  ///
  /// @param target page that is shown next, with its parameters
  /// @param notice what it says
  record Outcome(String target, String notice) {}
}
