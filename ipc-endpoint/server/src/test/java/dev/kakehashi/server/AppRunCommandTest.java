package dev.kakehashi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class AppRunCommandTest {
  @Test
  void shouldNameAnApplicationAfterItsFile() {
    assertEquals("shop", AppRunCommand.nameOf(Path.of("target/shop.jar")));
    assertEquals("order_service", AppRunCommand.nameOf(Path.of("Order-Service-1.0-SNAPSHOT.jar")));
    assertEquals("app_1", AppRunCommand.nameOf(Path.of("1.jar")));
  }
}
