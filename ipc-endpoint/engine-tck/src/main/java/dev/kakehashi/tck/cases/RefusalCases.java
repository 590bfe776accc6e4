package dev.kakehashi.tck.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.kakehashi.protocol.capability.Capability;
import dev.kakehashi.protocol.capability.StoredType;
import org.junit.jupiter.api.Test;

/// An engine states the truth about itself: what it lacks is refused, and never done in another way.
public interface RefusalCases extends Conformance {
  @Test
  default void shouldSayItsName() {
    assertEquals(underTest().name(), capabilities().engine());
  }

  @Test
  default void shouldRefuseWhatItLacks() {
    for (Capability each : Capability.values()) {
      if (!capabilities().has(each)) {
        new CapabilityRefusals(this).check(each);
      }
    }
  }

  @Test
  @NeedsCapability(Capability.DDL)
  default void shouldRefuseTypesThatItWouldNotKeep() {
    for (StoredType each : StoredType.values()) {
      String type =
          switch (each) {
            case ARRAY -> "int4[]";
            default -> each.title();
          };
      String create = "create table " + freshName() + " (v " + type + ")";
      if (capabilities().keeps(each)) {
        assertEquals(0, client().run(create), type);
      } else {
        refused("0A000", () -> client().run(create));
      }
    }
  }
}
