package dev.kakehashi.fuzz;

import dev.kakehashi.applications.jar.JarImage;
import dev.kakehashi.applications.jar.VersionModules;
import java.util.List;

/// A jar of an application: its table, each of its files, then the modules and the class that would be loaded from it.
final class JarTarget implements FuzzTarget {
  @Override
  public void run(byte[] input) {
    JarImage jar = JarImage.of("fuzz.jar", input);
    jar.packages();
    jar.mainAttribute("Main-Class");
    for (String file : jar.files()) {
      jar.file(file);
    }
    VersionModules.load("fuzz", List.of(jar));
  }
}
