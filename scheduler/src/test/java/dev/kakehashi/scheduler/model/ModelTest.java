package dev.kakehashi.scheduler.model;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Every state of the protocols' models, under SC and TSO. The broken variants are red witnesses: a model that does
/// not refute them would prove nothing.
class ModelTest {
  private static void holds(Checker.Program program) {
    for (boolean tso : new boolean[] {false, true}) {
      Checker.Result result = Checker.check(program, tso);
      assertNull(result.violation(), () -> program + " " + result);
    }
  }

  private static void isRefuted(Checker.Program program) {
    Checker.Result result = Checker.check(program, true);
    assertNotNull(result.violation(), () -> program + " " + result);
  }

  @ParameterizedTest
  @CsvSource({
    "pppplll, 1, 2",
    "ppplplfp, 1, 2",
    "pppppp, 1, 2",
    "pplplp, 2, 1",
    "ppolof, 1, 2",
    "pofpol, 2, 1",
    "pppplpppl, 1, 2",
  })
  void shouldTakeEveryItemOnce(String script, int thieves, int steals) {
    holds(new DequeModel(script, thieves, steals, DequeModel.Variant.CORRECT));
  }

  @ParameterizedTest
  @CsvSource({
    "pppplllp, NAIVE_HALF",
    "pppppplll, SLOT_NOT_CHECKED",
    "ppllpp, READ_BEFORE_CLAIM",
  })
  void shouldRefuteBrokenDeque(String script, DequeModel.Variant variant) {
    isRefuted(new DequeModel(script, 1, 1, variant));
  }

  @Test
  void shouldNotLeaveATaskBesideASleepingWorker() {
    holds(new IdleModel(IdleModel.Variant.CORRECT));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CORRECT")
  void shouldRefuteBrokenIdleProtocol(IdleModel.Variant variant) {
    isRefuted(new IdleModel(variant));
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 2", "2, 1", "2, 2"})
  void shouldKeepLaneWithinPermitsAndLeaveNothing(int permits, int batch) {
    holds(new LaneModel(permits, batch, LaneModel.Variant.CORRECT));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PERMIT_BEFORE_COUNT", "FLAG"})
  void shouldRefuteBrokenLane(LaneModel.Variant variant) {
    isRefuted(new LaneModel(1, 1, variant));
  }

  @Test
  void shouldAlwaysHaveADistributorBesideAWorkingAndASleepingWorker() {
    holds(new RoleModel(RoleModel.Variant.CORRECT));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CORRECT")
  void shouldRefuteBrokenDistributionRole(RoleModel.Variant variant) {
    isRefuted(new RoleModel(variant));
  }

  @Test
  void shouldEndAJobOnceAndAfterAllItsTasks() {
    holds(new JobCountModel(JobCountModel.Variant.CORRECT));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CORRECT")
  void shouldRefuteBrokenJobCount(JobCountModel.Variant variant) {
    isRefuted(new JobCountModel(variant));
  }

  @Test
  void shouldNotLetAWaiterSleepBesideItsEvent() {
    holds(new EventCountModel(EventCountModel.Variant.CORRECT));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CORRECT")
  void shouldRefuteBrokenEventCount(EventCountModel.Variant variant) {
    isRefuted(new EventCountModel(variant));
  }

  @Test
  void shouldBringEveryEventIntoOneStepOfItsProcess() {
    holds(new ProcessModel(ProcessModel.Variant.CORRECT));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CORRECT")
  void shouldRefuteBrokenProcess(ProcessModel.Variant variant) {
    isRefuted(new ProcessModel(variant));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void shouldStartNoMoreThanTheBucketHolds(int bucket) {
    holds(new TokenModel(bucket, TokenModel.Variant.CORRECT));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CORRECT")
  void shouldRefuteBrokenTokenBucket(TokenModel.Variant variant) {
    isRefuted(new TokenModel(2, variant));
  }

  @Test
  void shouldRunWhatWasAcceptedAndLetEveryWorkerGo() {
    holds(new ShutdownModel(ShutdownModel.Variant.CORRECT));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CORRECT")
  void shouldRefuteBrokenShutdown(ShutdownModel.Variant variant) {
    isRefuted(new ShutdownModel(variant));
  }
}
