package dev.kakehashi.engine.ddl;

import dev.kakehashi.engine.api.application.ApplicationContents;
import dev.kakehashi.engine.api.application.ApplicationDefinition.CodeIsolation;
import dev.kakehashi.engine.api.application.ApplicationDefinition.Jar;
import dev.kakehashi.engine.api.application.ApplicationSystem.JarContent;
import dev.kakehashi.engine.catalog.JarDigest;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Code that a statement brings, looked at. Immutable; the bytes are not changed.
///
/// @param isolation where its code is to run
/// @param contents what it defines
record Deployment(List<JarContent> jars, CodeIsolation isolation, ApplicationContents contents) {
  /// Most bytes of all jars of a version: they lie in the heap, too.
  static final long MOST_BYTES = 64L << 20;

  static final int MOST_JARS = 64;
  static final int MOST_NAME_BYTES = 255;

  /// Description of a jar in the catalogue.
  static Jar jar(JarContent content) {
    return new Jar(content.name(), JarDigest.of(content.bytes()), content.bytes().length);
  }

  /// Whether its name can be kept.
  static boolean isFit(String jarName) {
    return !jarName.isEmpty()
        && jarName.getBytes(StandardCharsets.UTF_8).length <= MOST_NAME_BYTES
        && jarName.chars().noneMatch(each -> each < ' ');
  }
}
