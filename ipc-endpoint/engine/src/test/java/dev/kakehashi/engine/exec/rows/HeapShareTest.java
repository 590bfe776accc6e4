package dev.kakehashi.engine.exec.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import org.junit.jupiter.api.Test;

final class HeapShareTest {
  @Test
  void shouldRefuseWhatStatementsDoNotFitInTogether() {
    HeapShare share = new HeapShare(10_000);
    MadeValues first = new MadeValues(new MemoryAccount().user(), share);
    MadeValues second = new MadeValues(new MemoryAccount().user(), share);
    first.hold(6_000);
    second.hold(3_000);
    EngineException refused = assertThrows(EngineException.class, () -> second.hold(5_000));
    assertEquals(ErrorCode.OUT_OF_MEMORY, refused.code());
    assertEquals(9_000, share.heldBytes(), "what is refused is not counted");
    first.hold(0);
    second.hold(5_000);
    assertEquals(5_000, share.heldBytes());
    second.hold(0);
    assertEquals(0, share.heldBytes());
  }
}
