package dev.kakehashi.server.doctor;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The checks. They read files of the system below a root, so that tests can give them others; nothing is changed. Not thread-safe.
public final class HostChecks {
  private static final long MIN_FREE_BYTES = 1L << 30;
  private static final long MIN_OPEN_FILES = 4096;
  private static final long MIN_MAPPINGS = 65_530;
  private static final long FIRST_SYSTEM_UID = 1000;
  private static final int MIN_JAVA = 25;
  private static final Instant EARLIEST = Instant.parse("2025-01-01T00:00:00Z");
  private static final Set<String> SLOW_CLOCKS =
      Set.of("hpet", "acpi_pm", "jiffies", "refined-jiffies");
  private static final Set<String> REMOTE_FILES =
      Set.of("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p");

  private final Path root;
  private final List<Finding> findings = new ArrayList<>();

  /// @param root `/`, but for tests
  public HostChecks(Path root) {
    this.root = root;
  }

  /// Findings so far, in the order of the checks.
  public List<Finding> findings() {
    return List.copyOf(findings);
  }

  private void add(Finding finding) {
    findings.add(finding);
  }

  // ---- the JVM and its memory ----

  /// @param feature version of Java
  /// @param heapBytes longest heap
  /// @param rowBytes setting `memory`
  public void memory(int feature, long heapBytes, long rowBytes) {
    add(
        feature >= MIN_JAVA
            ? Finding.ok("java", "version " + feature)
            : Finding.problem(
                "java",
                "version " + feature,
                "Run the endpoint with Java " + MIN_JAVA + " or newer."));
    long wanted = heapBytes + rowBytes;
    long most = memoryBytes();
    String text =
        "rows %s (setting memory) and heap %s of %s"
            .formatted(
                bytes(rowBytes), bytes(heapBytes), most < 0 ? "an unknown size" : bytes(most));
    if (most >= 0 && wanted > most) {
      add(
          Finding.problem(
              "memory",
              text,
              "The system kills the endpoint when both are full. Lower the setting memory or -Xmx, or give the machine or the cgroup more."));
    } else if (most >= 0 && wanted > most / 10 * 8) {
      add(
          Finding.warning(
              "memory",
              text,
              "Little is left for PostgreSQL and the page cache. Lower the setting memory or -Xmx."));
    } else {
      add(Finding.ok("memory", text));
    }
    String overcommit = line("proc/sys/vm/overcommit_memory");
    if ("2".equals(overcommit)) {
      add(
          Finding.warning(
              "overcommit",
              "vm.overcommit_memory is 2",
              "The endpoint reserves more address space than it uses. Set it to 0, or raise vm.overcommit_ratio."));
    }
  }

  /// Pages of 2 MB for the rows.
  ///
  /// @param isShared whether the rows are in shared memory: setting `direct_reads`
  public void hugePages(boolean isShared) {
    String name = isShared ? "shmem_enabled" : "enabled";
    String choices = line("sys/kernel/mm/transparent_hugepage/" + name);
    if (choices == null) {
      return;
    }
    String chosen = choices.replaceAll(".*\\[(.*)].*", "$1");
    String text = "transparent_hugepage/%s is %s".formatted(name, chosen);
    add(
        chosen.equals("never") || chosen.equals("deny")
            ? Finding.warning(
                "huge pages",
                text,
                "Scans and joins of large tables take longer. Write %s to /sys/kernel/mm/transparent_hugepage/%s."
                    .formatted(isShared ? "advise" : "madvise", name))
            : Finding.ok("huge pages", text));
  }

  /// Memory of the machine, or of the cgroup if that is less; -1: not known.
  private long memoryBytes() {
    long most = -1;
    for (String each : lines("proc/meminfo")) {
      if (each.startsWith("MemTotal:")) {
        most = number(each.replaceAll("[^0-9]", "")).orElse(-1) << 10;
      }
    }
    OptionalLong limit = number(line("sys/fs/cgroup/memory.max"));
    return limit.isPresent() && (most < 0 || limit.getAsLong() < most) ? limit.getAsLong() : most;
  }

  // ---- directories ----

  /// @param data setting `data_directory`
  public void dataDirectory(Path data) {
    if (Files.notExists(data)) {
      add(
          Finding.ok(
              "data directory", "\"" + data + "\" is not there yet: the first start makes it"));
      space("data disk", nearest(data));
      return;
    }
    mode("data directory", data);
    space("data disk", data);
  }

  /// @param runtime setting `runtime_directory`
  public void runtimeDirectory(Path runtime) {
    Path there = nearest(runtime);
    try {
      FileStore store = Files.getFileStore(there);
      String where =
          "\"%s\" on %s, %s free".formatted(runtime, store.type(), bytes(store.getUsableSpace()));
      if (!store.type().equals("tmpfs") && !store.type().equals("hugetlbfs")) {
        add(
            Finding.warning(
                "shared memory",
                where,
                "Requests and results go through files there, so the disk is written to. Choose a directory below /dev/shm."));
      } else if (store.getUsableSpace() < MIN_FREE_BYTES / 4) {
        add(
            Finding.problem(
                "shared memory",
                where,
                "Results of many sessions need more. Make it larger: mount -o remount,size=2G /dev/shm, or --shm-size of a container."));
      } else {
        add(Finding.ok("shared memory", where));
      }
    } catch (IOException failed) {
      add(
          Finding.problem(
              "shared memory",
              there + ": " + failed.getMessage(),
              "Look at its mode and its mount."));
    }
    if (Files.exists(runtime)) {
      mode("runtime directory", runtime);
    }
  }

  /// @param archive directory of the archive of the log; null: there is none
  /// @param data setting `data_directory`
  public void archive(@Nullable Path archive, Path data) {
    if (archive == null) {
      return;
    }
    if (!Files.isDirectory(archive)) {
      add(
          Finding.problem(
              "archive",
              "\"%s\" is not there".formatted(archive),
              "Make it, or mount its disk. Until then the log keeps what it lacks."));
      return;
    }
    try {
      FileStore store = Files.getFileStore(archive);
      String where = "\"%s\", %s free".formatted(archive, bytes(store.getUsableSpace()));
      if (!Files.isWritable(archive)) {
        add(Finding.problem("archive", where, "This user cannot write there."));
      } else if (store.getUsableSpace() < MIN_FREE_BYTES) {
        add(
            Finding.problem(
                "archive", where, "Make room, or remove what is old: kakehashi archive remove."));
      } else if (store.equals(Files.getFileStore(nearest(data)))) {
        add(
            Finding.warning(
                "archive",
                where,
                "It is on the disk of the data directory, and is lost with that."));
      } else {
        add(Finding.ok("archive", where));
      }
    } catch (IOException failed) {
      add(
          Finding.problem(
              "archive",
              "\"%s\": %s".formatted(archive, failed.getMessage()),
              "Look at its mode and its mount."));
    }
  }

  private static Path nearest(Path path) {
    Path at = path.toAbsolutePath();
    while (Files.notExists(at)) {
      Path parent = at.getParent();
      if (parent == null) {
        return at;
      }
      at = parent;
    }
    return at;
  }

  private void mode(String subject, Path directory) {
    try {
      PosixFileAttributes attributes = Files.readAttributes(directory, PosixFileAttributes.class);
      Set<PosixFilePermission> mode = attributes.permissions();
      String text =
          "\"%s\" of %s, %s"
              .formatted(
                  directory, attributes.owner().getName(), PosixFilePermissions.toString(mode));
      if (mode.contains(PosixFilePermission.OTHERS_WRITE)) {
        add(Finding.problem(subject, text, "Everybody may change it. Run: chmod o-w " + directory));
      } else if (!Files.isWritable(directory)) {
        add(
            Finding.warning(
                subject, text, "This user may not write to it. Run the endpoint as its owner."));
      } else {
        add(Finding.ok(subject, text));
      }
    } catch (IOException failed) {
      add(Finding.problem(subject, directory + ": " + failed.getMessage(), "Look at its mode."));
    }
  }

  private void space(String subject, Path directory) {
    try {
      FileStore store = Files.getFileStore(directory);
      long free = store.getUsableSpace();
      String text = "%s free on %s of \"%s\"".formatted(bytes(free), store.type(), directory);
      if (REMOTE_FILES.contains(store.type())) {
        add(
            Finding.warning(
                subject,
                text,
                "A flush over a network is slow, and may promise what is not kept. Use a local disk."));
      } else if (store.type().equals("tmpfs")) {
        add(
            Finding.warning(
                subject,
                text,
                "What is there is gone after a restart of the machine. Choose a directory on a disk."));
      } else if (free < MIN_FREE_BYTES) {
        add(
            Finding.problem(
                subject, text, "Commits are refused (53100) when it is full. Free some space."));
      } else {
        add(Finding.ok(subject, text));
      }
    } catch (IOException failed) {
      add(Finding.problem(subject, directory + ": " + failed.getMessage(), "Look at its mount."));
    }
  }

  // ---- limits of the system ----

  /// Limits of this process, which those of the endpoint are if it is started alike.
  public void limits() {
    for (String each : lines("proc/self/limits")) {
      if (each.startsWith("Max open files")) {
        String soft = each.substring("Max open files".length()).strip().replaceFirst("\\s.*", "");
        long most = soft.equals("unlimited") ? Long.MAX_VALUE : number(soft).orElse(0);
        add(
            most >= MIN_OPEN_FILES
                ? Finding.ok("open files", soft)
                : Finding.problem(
                    "open files",
                    soft,
                    "Each session takes some. Raise it: LimitNOFILE of the unit, or ulimit -n 65536."));
      }
    }
    OptionalLong mappings = number(line("proc/sys/vm/max_map_count"));
    if (mappings.isPresent()) {
      add(
          mappings.getAsLong() >= MIN_MAPPINGS
              ? Finding.ok("mappings", mappings.getAsLong() + " a process")
              : Finding.warning(
                  "mappings",
                  mappings.getAsLong() + " a process",
                  "Run: sysctl -w vm.max_map_count=" + MIN_MAPPINGS));
    }
  }

  /// logind removes the shared memory of users who are no system users when they log out.
  ///
  /// @param uid that the endpoint runs as
  public void removeIpc(long uid) {
    if (Files.notExists(root.resolve("run/systemd/system"))) {
      return;
    }
    String setting = removeIpcSetting();
    if (uid < FIRST_SYSTEM_UID || "no".equals(setting)) {
      add(
          Finding.ok(
              "RemoveIPC",
              uid < FIRST_SYSTEM_UID
                  ? "user " + uid + " is a system user"
                  : "is off in logind.conf"));
    } else {
      add(
          Finding.warning(
              "RemoveIPC",
              "user "
                  + uid
                  + " is no system user, and RemoveIPC is "
                  + (setting == null ? "on by default" : setting),
              "systemd-logind may remove files in /dev/shm when the user logs out. Set RemoveIPC=no in /etc/systemd/logind.conf, or use a system user."));
    }
  }

  private @Nullable String removeIpcSetting() {
    String setting = removeIpc(root.resolve("etc/systemd/logind.conf"));
    Path parts = root.resolve("etc/systemd/logind.conf.d");
    if (Files.isDirectory(parts)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(parts, "*.conf")) {
        for (Path file : files) {
          String said = removeIpc(file);
          setting = said == null ? setting : said;
        }
      } catch (IOException unreadable) {
        add(
            Finding.warning(
                "RemoveIPC", parts + " cannot be read", "Run the doctor as root to see all."));
      }
    }
    return setting;
  }

  private static @Nullable String removeIpc(Path file) {
    for (String each : linesOf(file)) {
      String text = each.strip();
      if (text.startsWith("RemoveIPC=")) {
        return text.substring("RemoveIPC=".length()).strip().toLowerCase(Locale.ROOT);
      }
    }
    return null;
  }

  // ---- the clock ----

  /// @param now of the machine
  public void clock(Instant now) {
    if (now.isBefore(EARLIEST)) {
      add(
          Finding.problem(
              "clock",
              now.toString(),
              "The clock is wrong: certificates, schedules and times of rows are, too. Set it."));
    } else {
      add(Finding.ok("clock", now.toString()));
    }
    String source = line("sys/devices/system/clocksource/clocksource0/current_clocksource");
    if (source != null) {
      add(
          SLOW_CLOCKS.contains(source)
              ? Finding.warning(
                  "clock source",
                  source,
                  "Reading it takes a microsecond and more, several times a request. Prefer tsc or kvm-clock.")
              : Finding.ok("clock source", source));
    }
  }

  // ---- versions ----

  /// Extensions that are installed, beside the endpoint.
  ///
  /// @param expected version of the extension that belongs to the endpoint
  public void extensions(String expected) {
    Path servers = root.resolve("usr/share/postgresql");
    boolean any = false;
    if (Files.isDirectory(servers)) {
      try (DirectoryStream<Path> majors = Files.newDirectoryStream(servers, "[0-9]*")) {
        for (Path major : majors) {
          for (String each : linesOf(major.resolve("extension/kakehashi_fdw.control"))) {
            if (each.startsWith("default_version")) {
              any = true;
              extension(major.getFileName().toString(), each.replaceAll("[^0-9.]", ""), expected);
            }
          }
        }
      } catch (IOException unreadable) {
        add(Finding.warning("extension", servers + " cannot be read", ""));
      }
    }
    if (!any) {
      add(
          Finding.warning(
              "extension",
              "kakehashi_fdw is installed for no PostgreSQL",
              "Install it where psql is to see the engine; Java and HTTP do without."));
    }
  }

  private void extension(String major, String version, String expected) {
    String text = "version %s for PostgreSQL %s".formatted(version, major);
    add(
        version.equals(expected)
            ? Finding.ok("extension", text)
            : Finding.problem(
                "extension",
                text + ", of this endpoint is " + expected,
                "Install the one that belongs to the endpoint, run ALTER EXTENSION kakehashi_fdw UPDATE, and open new sessions."));
  }

  /// @param pid of the endpoint
  public void endpoint(Path data, @Nullable Long pid, Duration startedAgo) {
    add(
        pid == null
            ? Finding.warning(
                "endpoint", "none runs on \"" + data + "\"", "Start it: kakehashi start")
            : Finding.ok(
                "endpoint",
                "process %d runs since %d minutes".formatted(pid, startedAgo.toMinutes())));
  }

  // ---- files of the system ----

  private @Nullable String line(String file) {
    List<String> lines = lines(file);
    return lines.isEmpty() ? null : lines.getFirst().strip();
  }

  private List<String> lines(String file) {
    return linesOf(root.resolve(file));
  }

  private static List<String> linesOf(Path file) {
    if (!Files.isReadable(file)) {
      return List.of();
    }
    // A buffer asks for much at once. Numbers below /proc/sys give the rest of a first short read
    // to nobody.
    try (var reader =
        new BufferedReader(
            new InputStreamReader(Files.newInputStream(file), StandardCharsets.UTF_8))) {
      return reader.readAllLines();
    } catch (IOException unreadable) {
      return List.of(); // as if it were not there: another kernel
    }
  }

  private static OptionalLong number(@Nullable String text) {
    try {
      return text == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
    } catch (NumberFormatException none) {
      return OptionalLong.empty(); // such as "max"
    }
  }

  private static String bytes(long bytes) {
    return bytes >= 1L << 30
        ? String.format(Locale.ROOT, "%.1f GB", bytes / (double) (1L << 30))
        : String.format(Locale.ROOT, "%.0f MB", bytes / (double) (1L << 20));
  }
}
