package dev.kakehashi.engine.type;

import dev.kakehashi.engine.api.Viewer;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.engine.rights.RightsQuestions;
import dev.kakehashi.engine.type.application.ApplicationUses;
import dev.kakehashi.engine.type.queue.QueueAccess;
import dev.kakehashi.protocol.ErrorCode;
import dev.kakehashi.valuetext.time.Zone;

/// Session of a statement, as its functions see it.
public interface FunctionSession {
  /// No session: UTC, random numbers of nobody else, no sequences.
  FunctionSession NONE = inZone(Zone.UTC);

  /// The time zone.
  Zone zone();

  RandomNumbers random();

  /// The sequences as the session uses them.
  SequenceAccess sequences();

  /// The queues as the statement uses them.
  default QueueAccess queues() {
    return QueueAccess.NONE;
  }

  /// Code of applications as the statement uses it.
  default ApplicationUses applications() {
    return ApplicationUses.NONE;
  }

  /// Names of rows for clients; of no table without a statement.
  default RowIdentities identities() {
    return RowIdentities.NONE;
  }

  /// The role of the engine whose rights count; empty: none.
  default String userName() {
    return "";
  }

  /// The user of the engine who has logged in; empty: none.
  default String sessionUserName() {
    return userName();
  }

  /// Questions that functions about rights ask.
  default RightsQuestions rights() {
    return RightsQuestions.NONE;
  }

  /// Files of loads and dumps, as the role may use them.
  default FileAccess files() {
    return FileAccess.NONE;
  }

  /// Ends an open transaction of anybody, as far as the role may.
  ///
  /// @param id as `kakehashi_catalog.transactions` shows it
  /// @return false: there is none
  /// @throws EngineException INSUFFICIENT_PRIVILEGE; FEATURE_NOT_SUPPORTED without a session
  default boolean terminateTransaction(long id) {
    throw new EngineException(
        ErrorCode.FEATURE_NOT_SUPPORTED, "terminate_transaction() cannot be used here");
  }

  /// For whom the statement runs.
  default Viewer viewer() {
    return Viewer.NOBODY;
  }

  /// The same in a time zone.
  static FunctionSession inZone(Zone zone) {
    return of(zone, ApplicationUses.NONE);
  }

  /// The same with code of applications.
  static FunctionSession with(ApplicationUses applications) {
    return of(Zone.UTC, applications);
  }

  private static FunctionSession of(Zone zone, ApplicationUses applications) {
    RandomNumbers random = new RandomNumbers();
    return new FunctionSession() {
      @Override
      public Zone zone() {
        return zone;
      }

      @Override
      public RandomNumbers random() {
        return random;
      }

      @Override
      public SequenceAccess sequences() {
        return SequenceAccess.NONE;
      }

      @Override
      public ApplicationUses applications() {
        return applications;
      }
    };
  }
}
