package dev.kakehashi.engine.type.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationDefinition;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationDefinition.VersionDefinition;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.util.List;
import org.junit.jupiter.api.Test;

class ApplicationUsesTest {
  private static final ApplicationDefinition LIBRARY =
      new ApplicationDefinition(
          1,
          "public",
          "lib",
          "owner",
          new VersionDefinition(2, 1, CodeIsolation.NONE, List.of(), ApplicationContents.NONE),
          ApplicationOptions.DEFAULT);

  @Test
  void shouldStayNoneForEverybodyWhenOneStatementEnds() {
    ApplicationUses.NONE.close();
    assertEquals(
        ErrorCode.FEATURE_NOT_SUPPORTED,
        assertThrows(EngineException.class, () -> ApplicationUses.NONE.of(LIBRARY)).code());
  }
}
