package dev.kakehashi.engine.txn;

import dev.kakehashi.engine.exec.operator.StatementScope;
import dev.kakehashi.engine.rights.RightsQuestions;
import dev.kakehashi.engine.type.FileAccess;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.type.RandomNumbers;
import dev.kakehashi.engine.type.application.ApplicationUses;
import dev.kakehashi.engine.type.queue.QueueAccess;
import dev.kakehashi.valuetext.time.Zone;

/// A [StatementScope] whose functions see the session of the statement; a part of [StatementExecution].
interface SessionScope extends StatementScope {
  /// Its session as functions see it.
  FunctionSession session();

  @Override
  default Zone zone() {
    return session().zone();
  }

  @Override
  default String userName() {
    return session().userName();
  }

  @Override
  default String sessionUserName() {
    return session().sessionUserName();
  }

  @Override
  default boolean terminateTransaction(long id) {
    return session().terminateTransaction(id);
  }

  @Override
  default RightsQuestions rights() {
    return session().rights();
  }

  @Override
  default FileAccess files() {
    return session().files();
  }

  @Override
  default RandomNumbers random() {
    return session().random();
  }

  @Override
  default ApplicationUses applications() {
    return session().applications();
  }

  @Override
  default QueueAccess queues() {
    return session().queues();
  }
}
