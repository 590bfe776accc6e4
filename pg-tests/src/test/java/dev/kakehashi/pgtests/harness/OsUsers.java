package dev.kakehashi.pgtests.harness;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// OS users and a group that live as long as a test. Root only.
public final class OsUsers implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final String prefix;
  private final String group;
  private final List<String> users = new ArrayList<>();

  private OsUsers(String prefix) {
    this.prefix = prefix;
    this.group = prefix + "g";
  }

  /// Whether this process may make users.
  public static boolean permitted() {
    return "root".equals(System.getProperty("user.name"));
  }

  /// Makes the group.
  public static OsUsers create() {
    // The names belong to this process alone: several checkouts may run their tests at once.
    var users = new OsUsers("kh" + ProcessHandle.current().pid());
    OsProcess.runOkAsSelf(List.of("groupadd", users.group), LIMIT);
    return users;
  }

  /// Makes a user with a group of his own.
  ///
  /// @param member whether he is in the common group, too
  /// @return his name
  public String add(String name, boolean member) {
    String user = prefix + name;
    var command =
        new ArrayList<>(
            List.of("useradd", "--user-group", "--no-create-home", "--shell", "/bin/sh"));
    if (member) {
      command.addAll(List.of("--groups", group));
    }
    command.add(user);
    OsProcess.runOkAsSelf(command, LIMIT);
    users.add(user);
    return user;
  }

  /// The common group.
  public String group() {
    return group;
  }

  /// Number of a user.
  public static String uid(String user) {
    return OsProcess.runOkAsSelf(List.of("id", "-u", user), LIMIT).strip();
  }

  @Override
  public void close() {
    for (String user : users) {
      OsProcess.runOkAsSelf(List.of("userdel", user), LIMIT);
    }
    OsProcess.runOkAsSelf(List.of("groupdel", group), LIMIT);
  }
}
