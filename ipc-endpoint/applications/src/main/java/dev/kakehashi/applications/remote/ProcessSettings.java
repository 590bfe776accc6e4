package dev.kakehashi.applications.remote;

import java.io.File;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// How processes of applications begin.
///
/// @param directory for the files of shared memory, on a tmpfs; made if it is not there
/// @param java the program of the JVM
/// @param classPath with the classes of the endpoint
/// @param mainClass takes the path of the link as its one argument
/// @param user OS user that they have; empty: that of the endpoint. Another one needs an endpoint of root. It has to be able to read `java`
///     and `classPath`
/// @param cgroup a directory of cgroup v2 that the endpoint may write to, in which each gets a group with a limit of memory; empty: none
public record ProcessSettings(
    Path directory, Path java, String classPath, String mainClass, String user, String cgroup) {
  /// The JVM and the class path of this process.
  public static ProcessSettings of(Path directory, String user, String cgroup) {
    return new ProcessSettings(
        directory,
        Path.of(System.getProperty("java.home"), "bin", "java"),
        absolute(System.getProperty("java.class.path")),
        "dev.kakehashi.applications.child.ProcessMain",
        user,
        cgroup);
  }

  /// Processes begin in another directory than the endpoint.
  private static String absolute(String classPath) {
    return Stream.of(classPath.split(File.pathSeparator, -1))
        .map(part -> Path.of(part).toAbsolutePath().toString())
        .collect(Collectors.joining(File.pathSeparator));
  }

  boolean hasOtherUser() {
    return !user.isEmpty();
  }
}
