package dev.kakehashi.engine.expr;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.kakehashi.protocol.TypeOid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Memory of constants, which the garbage collector frees.
class ConstantMemoryTest {
  private static WeakReference<MemorySegment> fill(List<Evaluator[]> evaluators) {
    MemorySegment memory = Arena.ofAuto().allocate(64, 8);
    Expr constant = new Expr.Constant(TypeOid.TEXT, false, memory.address(), memory);
    evaluators.add(Evaluators.of(List.of(constant), new EvalContext()));
    return new WeakReference<>(memory);
  }

  @Test
  void shouldKeepTheMemoryOfAConstantAsLongAsItsEvaluator() {
    List<Evaluator[]> evaluators = new ArrayList<>();
    WeakReference<MemorySegment> memory = fill(evaluators);
    try {
      for (int i = 0; i < 3; i++) {
        System.gc();
      }
      assertNotNull(memory.get());
    } finally {
      Reference.reachabilityFence(evaluators);
    }
  }
}
