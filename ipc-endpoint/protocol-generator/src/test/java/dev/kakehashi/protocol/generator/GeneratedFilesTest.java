package dev.kakehashi.protocol.generator;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// The committed C is what the schema says.
final class GeneratedFilesTest {
  @TestFactory
  Stream<DynamicTest> shouldBeUpToDate() throws IOException {
    Path root = Repository.root();
    return GenerateC.files(root).entrySet().stream()
        .map(file -> DynamicTest.dynamicTest(file.getKey(), () -> compare(root, file)));
  }

  private static void compare(Path root, Map.Entry<String, String> file) throws IOException {
    Path committed = root.resolve(file.getKey());
    String text = Files.exists(committed) ? Files.readString(committed) : "";
    assertEquals(file.getValue(), text, file.getKey() + " is stale: run \"make generate\"");
  }
}
