package dev.kakehashi.applications.jar;

import java.util.HashSet;
import java.util.Set;

/// Packages of the JVM that users' code may see: those of these modules alone. The engine and its libraries are not among them.
final class PlatformPackages {
  /// Name of the module that users' code is written against, and of its only package.
  static final String API = "dev.kakehashi.application";

  static final Set<String> MODULES =
      Set.of(
          "java.base",
          "java.logging",
          "java.net.http",
          "java.sql",
          "java.transaction.xa",
          "java.xml");

  private static final Set<String> PACKAGES = packagesOf();

  private PlatformPackages() {}

  static boolean isVisible(String packageName) {
    return PACKAGES.contains(packageName);
  }

  private static Set<String> packagesOf() {
    Set<String> packages = new HashSet<>();
    for (Module module : ModuleLayer.boot().modules()) {
      if (MODULES.contains(module.getName())) {
        packages.addAll(module.getPackages());
      }
    }
    return Set.copyOf(packages);
  }
}
