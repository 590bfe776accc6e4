package dev.kakehashi.applications.table;

import dev.kakehashi.engine.api.application.DirectAccess;
import org.jspecify.annotations.Nullable;

/// The way to the engine of a call: it refuses uses after the call was canceled, and turns errors into those of users' code. Used by the
/// call's thread.
public interface EngineBracket {
  /// @throws dev.kakehashi.application.EngineFailure what the engine has refused
  <R extends @Nullable Object> R use(Use<R> body);

  /// A use.
  @FunctionalInterface
  interface Use<R extends @Nullable Object> {
    R run(DirectAccess access);
  }
}
