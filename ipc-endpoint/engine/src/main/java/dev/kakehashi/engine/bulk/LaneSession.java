package dev.kakehashi.engine.bulk;

import dev.kakehashi.engine.rights.RightsQuestions;
import dev.kakehashi.engine.type.FunctionSession;
import dev.kakehashi.engine.type.RandomNumbers;
import dev.kakehashi.engine.type.SequenceAccess;
import dev.kakehashi.valuetext.time.Zone;

/// Session as functions see it in one transaction of a load in batches. It is the load's session with random numbers and sequences of its
/// own, since such transactions run at the same time.
record LaneSession(FunctionSession of, RandomNumbers random, SequenceAccess sequences)
    implements FunctionSession {
  LaneSession(FunctionSession of, SequenceAccess sequences) {
    this(of, new RandomNumbers(), sequences);
  }

  @Override
  public Zone zone() {
    return of.zone();
  }

  @Override
  public String userName() {
    return of.userName();
  }

  @Override
  public String sessionUserName() {
    return of.sessionUserName();
  }

  @Override
  public boolean terminateTransaction(long id) {
    return of.terminateTransaction(id);
  }

  @Override
  public RightsQuestions rights() {
    return of.rights();
  }
}
