package dev.kakehashi.protocol.capability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CapabilitiesTest {
  @Test
  void shouldAgreeWithTheTableOfBits() throws IOException {
    List<String> table =
        Files.readAllLines(Path.of("schema/capabilities.txt")).stream()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .map(line -> line.trim().replaceAll("\\s+", " "))
            .toList();
    List<String> bits = new ArrayList<>();
    for (Capability each : Capability.values()) {
      bits.add(line("capability", each, Long.numberOfTrailingZeros(each.bit()), each.title()));
    }
    for (Computation each : Computation.values()) {
      bits.add(line("computation", each, Long.numberOfTrailingZeros(each.bit()), each.title()));
    }
    for (StoredType each : StoredType.values()) {
      bits.add(line("type", each, Long.numberOfTrailingZeros(each.bit()), each.title()));
    }
    assertEquals(table, bits);
  }

  private static String line(String kind, Enum<?> name, int bit, String title) {
    return "%s %s %d %s".formatted(kind, name.name(), bit, title);
  }

  @Test
  void shouldBeTheSameFromItsBits() {
    Capabilities some =
        Capabilities.everything("some")
            .without(Capability.SAVEPOINTS, Capability.TWO_PHASE)
            .without(Computation.TEXT_ORDER)
            .without(StoredType.INTERVAL);
    assertFalse(some.has(Capability.SAVEPOINTS));
    assertFalse(some.computes(Computation.TEXT_ORDER));
    assertFalse(some.keeps(StoredType.INTERVAL));
    assertTrue(some.has(Capability.ROW_LOCKS));
    assertEquals(
        some,
        Capabilities.ofBits("some", some.hasBits(), some.computesBits(), some.keepsBits(), 0, 0));
  }

  @Test
  void shouldLeaveOutBitsThatNobodyKnows() {
    assertEquals(Capabilities.EMBEDDED, Capabilities.ofBits("embedded", -1, -1, -1, 0, 0));
  }

  @Test
  void shouldRefuseNamesAndLimitsThatAreNone() {
    assertThrows(IllegalArgumentException.class, () -> Capabilities.everything(""));
    assertThrows(IllegalArgumentException.class, () -> Capabilities.everything("x".repeat(64)));
    assertThrows(IllegalArgumentException.class, () -> Capabilities.ofBits("some", 0, 0, 0, -1, 0));
  }
}
