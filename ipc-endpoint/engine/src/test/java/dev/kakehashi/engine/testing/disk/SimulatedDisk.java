package dev.kakehashi.engine.testing.disk;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// A disk under the changes of a [DiskTrace]: what of them a loss of power leaves.
///
/// | change | survives |
/// |---|---|
/// | content and length of a file | when it was followed by an fsync or fdatasync of the file that has returned |
/// | a name: made, renamed, removed | when it was followed by an fsync of its directory; of either, if it is moved |
/// | others | perhaps: any of them, in any order, contents also in parts |
///
/// So it is the weakest disk that POSIX allows, with the atomic rename that all file systems have. A part of a file that was not written
/// has zeros. Confined to one thread.
public final class SimulatedDisk {
  private final Predicate<String> ignoresSync;
  private final Map<Long, Inode> inodes = new HashMap<>();
  private final Map<Long, Begun> begun = new HashMap<>();
  private final List<NameChange> names = new ArrayList<>();
  private Inode root = new Inode(true, "");
  private long clock;

  private record Begun(Inode inode, long at, boolean ignored) {}

  /// A file or directory.
  private static final class Inode {
    final boolean directory;

    /// Where it was made, for [#ignoresSync].
    String path;

    // A file has these.
    final Content durable = new Content();
    final List<Change> changes = new ArrayList<>();

    // A directory has these.
    final Map<String, Inode> durableNames = new TreeMap<>();
    final Map<String, Inode> namesNow = new TreeMap<>();

    Inode(boolean directory, String path) {
      this.directory = directory;
      this.path = path;
    }
  }

  /// Bytes that grow; those behind the length are zeros.
  private static final class Content {
    byte[] bytes = {};
    int length;

    Content copy() {
      Content copy = new Content();
      copy.bytes = bytes.clone();
      copy.length = length;
      return copy;
    }

    void room(int needed) {
      if (bytes.length < needed) {
        bytes = Arrays.copyOf(bytes, Math.max(needed, 2 * bytes.length));
      }
    }

    void length(int to) {
      room(to);
      if (to < length) {
        Arrays.fill(bytes, to, length, (byte) 0);
      }
      length = to;
    }
  }

  /// A change of a file's content that is not durable.
  ///
  /// @param offset of what it changes
  /// @param bytes that it changes; of a change of the length 0
  /// @param from the new bytes; empty: zeros
  /// @param length the file's afterwards, exactly; negative: at least so many as its complement says
  private record Change(long at, int offset, int bytes, byte[] from, int length) {
    int lengthAfter(int before) {
      return length >= 0 ? length : Math.max(before, ~length);
    }
  }

  /// A change of names that is not durable. Two slots if it is a rename.
  private record NameChange(long at, List<Slot> slots) {
    boolean concerns(Inode directory) {
      return slots.stream().anyMatch(slot -> slot.directory == directory);
    }

    boolean overlaps(NameChange other) {
      return slots.stream()
          .anyMatch(slot ->
              other.slots.stream()
                  .anyMatch(
                      each -> each.directory == slot.directory && each.name.equals(slot.name)));
    }
  }

  /// A name and what has it afterwards.
  ///
  /// @param inode of length 0: none
  private record Slot(Inode directory, String name, List<Inode> inode) {
    void apply(Map<String, Inode> to) {
      if (inode.isEmpty()) {
        to.remove(name);
      } else {
        to.put(name, inode.getFirst());
      }
    }
  }

  /// A disk that does what it is told.
  public SimulatedDisk() {
    this(path -> false);
  }

  /// A disk that lies, or a program that forgets.
  ///
  /// @param ignoresSync whether the synchronisation of a file does nothing, by its path below the root; that of a directory ends with a
  ///     slash
  public SimulatedDisk(Predicate<String> ignoresSync) {
    this.ignoresSync = ignoresSync;
  }

  /// Takes the next event.
  public void apply(DiskTrace.Event event) {
    clock++;
    switch (event.kind()) {
      case ROOT -> inodes.put(event.file(), root);
      case CREATE -> {
        Inode directory = inode(event.a());
        Inode made = new Inode(event.b() == 1, directory.path + event.text());
        if (made.directory) {
          made.path += "/";
        }
        inodes.put(event.file(), made);
        change(new Slot(directory, event.text(), List.of(made)));
      }
      case LINK -> change(new Slot(inode(event.a()), event.text(), List.of(inode(event.file()))));
      case UNLINK -> change(new Slot(inode(event.a()), event.text(), List.of()));
      case RENAME -> rename(event);
      case WRITE -> {
        int offset = Math.toIntExact(event.a());
        int end = offset + event.bytes().length;
        change(event, new Change(clock, offset, event.bytes().length, event.bytes(), ~end));
      }
      case ZERO ->
          change(
              event,
              new Change(
                  clock, Math.toIntExact(event.a()), Math.toIntExact(event.b()), new byte[0], ~0));
      case TRUNCATE -> truncate(event);
      case ALLOCATE ->
          change(event, new Change(clock, 0, 0, new byte[0], ~Math.toIntExact(event.a())));
      case BEGIN -> {
        Inode inode = inode(event.file());
        begun.put(event.a(), new Begun(inode, clock, ignoresSync.test(inode.path)));
      }
      case END -> end(begun.remove(event.a()));
      case PROCESS -> begun.clear();
      case MARK -> {}
      case STRANGE -> throw new IllegalArgumentException(event.text());
    }
  }

  private Inode inode(long number) {
    Inode inode = inodes.get(number);
    if (inode == null) {
      throw new IllegalStateException("file " + number + " was not made");
    }
    return inode;
  }

  private void change(Slot... slots) {
    for (Slot slot : slots) {
      slot.apply(slot.directory.namesNow);
    }
    names.add(new NameChange(clock, List.of(slots)));
  }

  private void rename(DiskTrace.Event event) {
    String[] both = event.text().split("\0", -1);
    Inode inode = inode(event.file());
    Inode to = inode(event.b());
    inode.path = to.path + both[1] + (inode.directory ? "/" : "");
    change(new Slot(inode(event.a()), both[0], List.of()), new Slot(to, both[1], List.of(inode)));
  }

  private void change(DiskTrace.Event event, Change change) {
    inode(event.file()).changes.add(change);
  }

  private void truncate(DiskTrace.Event event) {
    int length = Math.toIntExact(event.a());
    Inode inode = inode(event.file());
    int before = inode.durable.length;
    for (Change each : inode.changes) {
      before = Math.max(before, each.lengthAfter(before));
    }
    // Bytes behind the new length come back as zeros, if at all.
    inode.changes.add(new Change(clock, length, Math.max(0, before - length), new byte[0], length));
  }

  private void end(@Nullable Begun sync) {
    if (sync == null || sync.ignored()) {
      return;
    }
    Inode inode = sync.inode();
    if (inode.directory) {
      endDirectory(inode, sync.at());
      return;
    }
    List<Change> covered = inode.changes.stream().filter(each -> each.at() < sync.at()).toList();
    covered.forEach(each -> write(each, inode.durable));
    inode.changes.subList(0, covered.size()).clear();
  }

  private void endDirectory(Inode directory, long at) {
    // A change that it makes durable takes those along that came before it to the same names.
    Set<NameChange> covered = new HashSet<>();
    for (int i = names.size() - 1; i >= 0; i--) {
      NameChange each = names.get(i);
      if ((each.at() < at && each.concerns(directory))
          || covered.stream().anyMatch(each::overlaps)) {
        covered.add(each);
      }
    }
    for (NameChange each : names) {
      if (covered.contains(each)) {
        each.slots().forEach(slot -> slot.apply(slot.directory().durableNames));
      }
    }
    names.removeIf(covered::contains);
  }

  private static void write(Change change, Content to) {
    to.length(change.lengthAfter(to.length));
    put(change, change.offset(), change.bytes(), to);
  }

  /// Copies a part of a change, whatever the length.
  private static void put(Change change, int offset, int bytes, Content to) {
    to.room(offset + bytes);
    if (change.from().length == 0) {
      Arrays.fill(to.bytes, offset, offset + bytes, (byte) 0);
    } else {
      System.arraycopy(change.from(), offset - change.offset(), to.bytes, offset, bytes);
    }
  }

  /// Makes a directory as the disk has it after a loss of power now.
  ///
  /// @param target is made
  public void leave(PowerLoss loss, Path target) throws IOException {
    Map<Inode, Map<String, Inode>> left = new HashMap<>();
    for (int i = 0; i < names.size(); i++) {
      NameChange change = names.get(i);
      if (loss.keepsName((i + 1) / (double) names.size())) {
        for (Slot slot : change.slots()) {
          slot.apply(
              left.computeIfAbsent(
                  slot.directory(), directory -> new TreeMap<>(directory.durableNames)));
        }
      }
    }
    leave(root, left, loss, target);
  }

  private static void leave(
      Inode directory, Map<Inode, Map<String, Inode>> left, PowerLoss loss, Path target)
      throws IOException {
    Files.createDirectory(target);
    for (Map.Entry<String, Inode> each :
        left.getOrDefault(directory, directory.durableNames).entrySet()) {
      Path path = target.resolve(each.getKey());
      if (each.getValue().directory) {
        leave(each.getValue(), left, loss, path);
      } else {
        Content content = content(each.getValue(), loss);
        try (OutputStream file = Files.newOutputStream(path)) {
          file.write(content.bytes, 0, content.length);
        }
      }
    }
  }

  private static Content content(Inode file, PowerLoss loss) {
    if (file.changes.isEmpty()) {
      return file.durable;
    }
    // The content as the system had it in memory, and as it came to the disk.
    Content memory = file.durable.copy();
    Content disk = file.durable.copy();
    int length = disk.length;
    for (Change change : file.changes) {
      write(change, memory);
      if (loss.keepsLength()) {
        length = change.lengthAfter(length);
      }
      int end = change.offset() + change.bytes();
      int at = change.offset();
      while (at < end) {
        // A page of memory comes to the disk as it is then, so units have all that came before.
        boolean whole = loss.unit == PowerLoss.WRITE;
        int from = whole ? at : at - at % loss.unit;
        int to = whole ? end : from + loss.unit;
        if (loss.keepsContent()) {
          disk.room(to);
          memory.room(to);
          System.arraycopy(memory.bytes, from, disk.bytes, from, to - from);
        }
        at = to;
      }
    }
    disk.room(length);
    // Bytes behind the end are none, also when a later write of the next life makes the file
    // longer.
    disk.length = length;
    return disk;
  }

  /// Compares what the program has left with what this disk would have without a loss.
  ///
  /// @param ignored names of files that nobody looks at
  /// @return differences
  public List<String> differences(Path real, Predicate<String> ignored) throws IOException {
    List<String> found = new ArrayList<>();
    compare(root, real, ignored, found);
    return found;
  }

  private static void compare(
      Inode directory, Path real, Predicate<String> ignored, List<String> found)
      throws IOException {
    Map<String, Inode> expected = new LinkedHashMap<>(directory.namesNow);
    expected.keySet().removeIf(ignored);
    try (var files = Files.list(real)) {
      for (Path path : files.sorted().toList()) {
        String name = String.valueOf(path.getFileName());
        Inode inode = expected.remove(name);
        if (inode == null) {
          if (!ignored.test(name)) {
            found.add(path + " is unknown");
          }
        } else if (inode.directory) {
          compare(inode, path, ignored, found);
        } else {
          Content content = content(inode, PowerLoss.ofNothing());
          byte[] bytes = Files.readAllBytes(path);
          int at = Arrays.mismatch(bytes, 0, bytes.length, content.bytes, 0, content.length);
          if (at >= 0) {
            found.add(
                path
                    + " differs from byte "
                    + at
                    + " on, "
                    + bytes.length
                    + " and "
                    + content.length
                    + " bytes long");
          }
        }
      }
    }
    expected.keySet().forEach(name -> found.add(real.resolve(name) + " is missing"));
  }
}
