package dev.kakehashi.fuzz;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// All that the fuzzer has found, once more: inputs that reach each known branch, and those that were findings.
class CorpusTest {
  static Set<String> targets() {
    return Targets.all().keySet();
  }

  @ParameterizedTest
  @MethodSource("targets")
  void shouldHaveNoFindingInTheCorpus(String name) throws Exception {
    List<byte[]> inputs = Corpus.of(name);
    assertFalse(inputs.isEmpty());
    try (FuzzTarget target = Targets.open(name)) {
      for (int i = 0; i < inputs.size(); i++) {
        byte[] input = inputs.get(i);
        try {
          Verdict.of(target, input);
        } catch (AssertionError e) {
          throw new AssertionError(
              "input %d of %s: %s".formatted(i + 1, name, HexFormat.of().formatHex(input)), e);
        }
      }
    }
  }

  @Test
  void shouldTellFindingsFromRefusals() {
    byte[] input = {1};
    Verdict.of(
        of -> {
          throw new EngineException(ErrorCode.SYNTAX_ERROR, "refused");
        },
        input);
    for (Throwable finding :
        List.of(
            new EngineException(ErrorCode.INTERNAL_ERROR, "internal"),
            new IndexOutOfBoundsException(),
            new StackOverflowError(),
            new OutOfMemoryError())) {
      AssertionError e =
          assertThrows(
              AssertionError.class,
              () ->
                  Verdict.of(
                      of -> {
                        switch (finding) {
                          case RuntimeException runtime -> throw runtime;
                          default -> throw (Error) finding;
                        }
                      },
                      input));
      assertSame(finding, e.getCause());
    }
  }
}
