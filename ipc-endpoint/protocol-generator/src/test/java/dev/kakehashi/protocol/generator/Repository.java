package dev.kakehashi.protocol.generator;

import java.nio.file.Files;
import java.nio.file.Path;

/// Where the tests find the repository's files: Maven runs them in the module's directory.
final class Repository {
  private Repository() {}

  static Path root() {
    Path root = Path.of("").toAbsolutePath().resolve("../..").normalize();
    if (!Files.isDirectory(root.resolve("ipc-endpoint/protocol/schema"))) {
      throw new IllegalStateException("not run in ipc-endpoint/protocol-generator: " + root);
    }
    return root;
  }
}
