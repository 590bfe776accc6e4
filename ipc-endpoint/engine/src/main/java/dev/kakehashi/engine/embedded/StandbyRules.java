package dev.kakehashi.engine.embedded;

import dev.kakehashi.engine.api.BeginOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;

/// Clients of a standby read, by snapshots of what was applied. Stateless.
final class StandbyRules {
  private StandbyRules() {}

  /// The same transaction, which changes nothing.
  ///
  /// @throws EngineException FEATURE_NOT_SUPPORTED if it is serializable, READ_ONLY_TRANSACTION if it is long
  static BeginOptions readOnly(BeginOptions asked) {
    if (asked.isolation() == BeginOptions.Isolation.SERIALIZABLE) {
      throw new EngineException(
              ErrorCode.FEATURE_NOT_SUPPORTED, "cannot use serializable mode on a standby")
          .withHint("You can use REPEATABLE READ instead.");
    }
    return switch (asked.kind()) {
      case RTX -> asked;
      case LTX ->
          throw explained(
              new EngineException(
                  ErrorCode.READ_ONLY_TRANSACTION,
                  "cannot begin a long transaction in a read-only transaction"));
      case OCC ->
          new BeginOptions(
              BeginOptions.Kind.RTX,
              asked.isolation(),
              asked.label(),
              asked.priority(),
              asked.timeoutNanos(),
              asked.areas(),
              false);
    };
  }

  /// Says of a refused change that the endpoint is a standby.
  static EngineException explained(EngineException failure) {
    if (failure.code() != ErrorCode.READ_ONLY_TRANSACTION) {
      return failure;
    }
    return new EngineException(
            failure.code(),
            String.valueOf(failure.getMessage())
                .replace("in a read-only transaction", "on a standby"),
            failure)
        .withDetail("This endpoint is a standby: what changes here comes from its primary.")
        .withHint(
            "Send changes to the primary, or make this one the primary: \"kakehashi promote\".");
  }
}
