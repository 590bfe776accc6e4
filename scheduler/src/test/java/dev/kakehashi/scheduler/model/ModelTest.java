package dev.kakehashi.scheduler.model;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Every state of the protocols' models, under SC and TSO. The broken variants are red witnesses: a model that does
/// not refute them would prove nothing.
class ModelTest {
  private static Stream<Checker.Program> protocols() {
    return Stream.of(
        // Every item is taken once.
        new DequeModel("pppplll", 1, 2, DequeModel.Variant.CORRECT),
        new DequeModel("ppplplfp", 1, 2, DequeModel.Variant.CORRECT),
        new DequeModel("pppppp", 1, 2, DequeModel.Variant.CORRECT),
        new DequeModel("pplplp", 2, 1, DequeModel.Variant.CORRECT),
        new DequeModel("ppolof", 1, 2, DequeModel.Variant.CORRECT),
        new DequeModel("pofpol", 2, 1, DequeModel.Variant.CORRECT),
        new DequeModel("pppplpppl", 1, 2, DequeModel.Variant.CORRECT),
        new DequeModel("ppmpmpll", 1, 3, DequeModel.Variant.CORRECT),
        new DequeModel("pplmll", 2, 1, DequeModel.Variant.CORRECT),
        new DequeModel("pppmlpl", 2, 1, DequeModel.Variant.CORRECT),
        // No task is left beside a sleeping worker.
        new IdleModel(false, IdleModel.Variant.CORRECT),
        new IdleModel(true, IdleModel.Variant.CORRECT),
        // A lane keeps within its permits and leaves nothing.
        new LaneModel(1, 1, LaneModel.Variant.CORRECT),
        new LaneModel(1, 2, LaneModel.Variant.CORRECT),
        new LaneModel(2, 1, LaneModel.Variant.CORRECT),
        new LaneModel(2, 2, LaneModel.Variant.CORRECT),
        // There is a distributor beside a working and a sleeping worker.
        new RoleModel(RoleModel.Variant.CORRECT),
        // A job ends once, and after all its tasks.
        new JobCountModel(JobCountModel.Variant.CORRECT),
        // No waiter sleeps beside its event.
        new EventCountModel(EventCountModel.Variant.CORRECT),
        // Every event comes into one step of its process.
        new ProcessModel(ProcessModel.Variant.CORRECT),
        // No more starts than the bucket holds.
        new TokenModel(1, TokenModel.Variant.CORRECT),
        new TokenModel(2, TokenModel.Variant.CORRECT),
        // Every accepted task runs, and every worker goes.
        new ShutdownModel(ShutdownModel.Variant.CORRECT));
  }

  private static Stream<Checker.Program> brokenProtocols() {
    return Stream.of(
            Stream.of(
                new DequeModel("pppplllp", 1, 1, DequeModel.Variant.NAIVE_HALF),
                new DequeModel("pppppplll", 1, 1, DequeModel.Variant.SLOT_NOT_CHECKED),
                new DequeModel("ppllpp", 1, 1, DequeModel.Variant.READ_BEFORE_CLAIM),
                new DequeModel("ppll", 1, 1, DequeModel.Variant.CLAIM_WITHOUT_FENCE),
                new DequeModel("pppplll", 1, 2, DequeModel.Variant.SHARED_WITHOUT_FENCE),
                new DequeModel("ppll", 1, 1, DequeModel.Variant.NO_SECOND_LOOK),
                new DequeModel("ppll", 1, 1, DequeModel.Variant.CLAIM_NOT_CANCELED),
                new LaneModel(1, 1, LaneModel.Variant.PERMIT_BEFORE_COUNT),
                new LaneModel(1, 1, LaneModel.Variant.FLAG)),
            broken(IdleModel.Variant.values(), variant -> new IdleModel(true, variant)),
            broken(RoleModel.Variant.values(), RoleModel::new),
            broken(JobCountModel.Variant.values(), JobCountModel::new),
            broken(EventCountModel.Variant.values(), EventCountModel::new),
            broken(ProcessModel.Variant.values(), ProcessModel::new),
            broken(TokenModel.Variant.values(), variant -> new TokenModel(2, variant)),
            broken(ShutdownModel.Variant.values(), ShutdownModel::new))
        .flatMap(programs -> programs);
  }

  private static <V extends Enum<V>> Stream<Checker.Program> broken(
      V[] variants, Function<V, Checker.Program> model) {
    return Arrays.stream(variants).filter(variant -> !variant.name().equals("CORRECT")).map(model);
  }

  @ParameterizedTest
  @MethodSource("protocols")
  void shouldHoldWhateverTheOrderOfSteps(Checker.Program program) {
    for (boolean tso : new boolean[] {false, true}) {
      Checker.Result result = Checker.check(program, tso);
      assertNull(result.violation(), () -> program + " " + result);
    }
  }

  @ParameterizedTest
  @MethodSource("brokenProtocols")
  void shouldRefuteWhatIsBroken(Checker.Program program) {
    Checker.Result result = Checker.check(program, true);
    assertNotNull(result.violation(), () -> program + " " + result);
  }
}
