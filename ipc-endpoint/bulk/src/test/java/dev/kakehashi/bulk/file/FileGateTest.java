package dev.kakehashi.bulk.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.kakehashi.bulk.BulkDirectories;
import dev.kakehashi.engine.api.error.EngineException;
import dev.kakehashi.protocol.ErrorCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class FileGateTest {
  private static final int RACES = Integer.getInteger("kakehashi.bulk.races", 2_000);

  @TempDir Path root;
  private BulkDirectories places;
  private FileGate gate;

  @BeforeEach
  void open() throws IOException {
    places = new BulkDirectories(root);
    gate =
        LocationSettings.gate(
            List.of("in:" + places.in + ":read", "out:" + places.out + ":write"),
            List.of(places.data));
    Files.createDirectories(places.in.resolve("day"));
    Files.writeString(places.in.resolve("day/x.csv"), "inside");
    Files.writeString(places.data.resolve("secret"), "secret");
  }

  private String content(String location) {
    try (OpenedFile file = gate.open(LocationPath.parse(location), places.user)) {
      byte[] bytes = new byte[(int) file.sizeBytes()];
      file.read(0, MemorySegment.ofArray(bytes));
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  private EngineException refused(String location) {
    return assertThrows(EngineException.class, () -> content(location));
  }

  @Test
  void shouldReadAFileBelowItsLocation() {
    assertEquals("inside", content("in:day/x.csv"));
    try (OpenedFile file = gate.open(LocationPath.parse("in:day/x.csv"), places.user);
        Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(4);
      file.read(2, memory);
      assertArrayEquals(
          "side".getBytes(StandardCharsets.UTF_8), memory.toArray(ValueLayout.JAVA_BYTE));
      EngineException e = assertThrows(EngineException.class, () -> file.read(3, memory));
      assertEquals(ErrorCode.BAD_COPY_FILE_FORMAT, e.code());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "in:../data/secret",
        "in:day/../../data/secret",
        "in:day/./x.csv",
        "in:day//x.csv",
        "in:/etc/passwd",
        "/etc/passwd",
        "in:x\0.csv",
        "in:x\n.csv",
        "passwd",
        "http://localhost/x.csv",
        "s3://bucket/x.csv",
        "file:///etc/passwd",
        "in:.kakehashi-0123456789abcdef",
        "in:.kakehashi-0123456789abcdef-7"
      })
  void shouldRefuseNamesThatLeadElsewhere(String location) {
    EngineException e = assertThrows(EngineException.class, () -> LocationPath.parse(location));
    assertEquals(ErrorCode.INVALID_NAME, e.code(), e.getMessage());
    assertTrue(e.hint().contains("in:day/file.csv"), e.hint());
  }

  @Test
  void shouldNameTheNearestLocation() {
    EngineException e = refused("inn:x.csv");
    assertEquals(ErrorCode.UNDEFINED_OBJECT, e.code());
    assertEquals("Perhaps you meant \"in\".", e.hint());
  }

  @Test
  void shouldFollowNoLinks() throws IOException {
    Files.createSymbolicLink(places.in.resolve("link.csv"), places.in.resolve("day/x.csv"));
    Files.createSymbolicLink(places.in.resolve("dir"), places.in.resolve("day"));
    Files.createSymbolicLink(places.in.resolve("proc"), Path.of("/proc/self"));
    Files.createLink(places.in.resolve("hard"), places.data.resolve("secret"));
    for (String name : List.of("in:link.csv", "in:dir/x.csv", "in:proc/environ", "in:hard")) {
      EngineException e = refused(name);
      assertTrue(
          e.code() == ErrorCode.INSUFFICIENT_PRIVILEGE || e.code() == ErrorCode.UNDEFINED_FILE,
          name + ": " + e.getMessage());
    }
    assertTrue(String.valueOf(refused("in:hard").getMessage()).contains("hard links"));
  }

  @Test
  void shouldOpenRegularFilesOnly() throws IOException, InterruptedException {
    Path fifo = places.in.resolve("fifo");
    assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
    EngineException e = refused("in:fifo");
    assertEquals(ErrorCode.WRONG_OBJECT_TYPE, e.code());
    e = refused("in:day");
    assertEquals(ErrorCode.WRONG_OBJECT_TYPE, e.code());
    assertEquals(ErrorCode.UNDEFINED_FILE, refused("in:day/y.csv").code());
    assertEquals(ErrorCode.UNDEFINED_FILE, refused("in:day/x.csv/z").code());
  }

  /// Device files and files of /proc are no regular files with one name, or have no bytes: a location there gives nothing, and hangs
  /// nobody.
  @Test
  void shouldRefuseDevices() {
    FileGate devices = LocationSettings.gate(List.of("dev:/dev:read"), List.of(places.data));
    for (String name : List.of("dev:null", "dev:zero", "dev:tty")) {
      EngineException e =
          assertThrows(
              EngineException.class, () -> devices.open(LocationPath.parse(name), places.user));
      assertTrue(
          e.code() == ErrorCode.WRONG_OBJECT_TYPE || e.code() == ErrorCode.UNDEFINED_FILE,
          e.getMessage());
    }
  }

  @Test
  void shouldCheckSettingsAndPrivileges() {
    assertEquals(ErrorCode.INSUFFICIENT_PRIVILEGE, refused("out:x.csv").code());
    places.user.denied.add("read in");
    EngineException e = refused("in:day/x.csv");
    assertEquals(ErrorCode.INSUFFICIENT_PRIVILEGE, e.code());
    assertEquals("permission denied for location in", e.getMessage());
    LocationPath path = LocationPath.parse("in:x");
    assertThrows(EngineException.class, () -> gate.toWrite(path, places.user));
  }

  @Test
  void shouldRefuseLocationsThatTouchTheEndpointsDirectories() throws IOException {
    Path inner = Files.createDirectories(places.data.resolve("inner"));
    Path link = Files.createSymbolicLink(root.resolve("alias"), places.data);
    for (Path each : List.of(places.data, inner, root, link, link.resolve("inner"))) {
      String message =
          String.valueOf(
              assertThrows(
                      IllegalArgumentException.class,
                      () ->
                          LocationSettings.gate(
                              List.of("x:" + each + ":read"), List.of(places.data)))
                  .getMessage());
      assertTrue(message.contains("the endpoint's own"), message);
    }
    for (String item :
        List.of(
            "x",
            "x:/tmp",
            "x:/nowhere-at-all:read",
            "x:/tmp:rw",
            "x:tmp:read",
            "upload:/tmp:read",
            "1:/tmp:read")) {
      assertThrows(
          IllegalArgumentException.class,
          () -> LocationSettings.gate(List.of(item), List.of(places.data)),
          item);
    }
  }

  @Test
  void shouldFindFilesByPatternInTheOrderOfTheirNames() throws IOException {
    for (String name : List.of("b.csv", "a.csv", "c.txt", ".hidden.csv", "ü.csv", "a1.csv")) {
      Files.writeString(places.in.resolve("day").resolve(name), name);
    }
    Files.createDirectories(places.in.resolve("day/dir.csv"));
    Files.createDirectories(places.in.resolve("night"));
    Files.writeString(places.in.resolve("night/x.csv"), "");
    assertEquals(
        List.of("in:day/a.csv", "in:day/a1.csv", "in:day/b.csv", "in:day/x.csv", "in:day/ü.csv"),
        found("in:day/*.csv"));
    assertEquals(List.of("in:day/x.csv", "in:night/x.csv"), found("in:*/x.csv"));
    assertEquals(List.of("in:day/a.csv", "in:day/b.csv"), found("in:d?y/[a-b].csv"));
    assertEquals(List.of("in:day/a1.csv"), found("in:day/a[!.]*"));
    EngineException e = assertThrows(EngineException.class, () -> found("in:day/*.parquet"));
    assertEquals(ErrorCode.UNDEFINED_FILE, e.code());
    assertThrows(EngineException.class, () -> found("in:day/"));
  }

  private List<String> found(String pattern) {
    List<String> names = new ArrayList<>();
    gate.files(LocationPath.parse(pattern), places.user).forEach(each -> names.add(each + ""));
    return names;
  }

  @Test
  void shouldMatchHostilePatternsQuickly() {
    NamePattern pattern = new NamePattern("*a".repeat(100) + "b");
    assertFalse(pattern.matches("a".repeat(250)));
    assertTrue(new NamePattern("*[]x]?").matches("foo]y"));
    assertTrue(new NamePattern("a[").matches("a["));
  }

  /// A directory becomes a link to the data directory and back, again and again: each open gives the file inside, or an error.
  @Test
  void shouldNotBeLedAwayByADirectoryThatBecomesALink() throws IOException, InterruptedException {
    Path day = places.in.resolve("day");
    Path other = places.in.resolve("other");
    Path link = places.in.resolve("link");
    Files.writeString(places.data.resolve("x.csv"), "secret");
    AtomicBoolean isOver = new AtomicBoolean();
    Thread swapper =
        Thread.ofPlatform()
            .start(() -> {
              try {
                while (!isOver.get()) {
                  Files.createSymbolicLink(link, places.data);
                  Files.move(day, other);
                  Files.move(link, day, StandardCopyOption.ATOMIC_MOVE);
                  Files.delete(day);
                  Files.move(other, day);
                }
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
    int opened = 0;
    try {
      // On a busy machine the swapper may stand still while the directory is away, for all of the
      // races: the class has a limit.
      for (int i = 0; i < RACES || opened == 0; i++) {
        try {
          assertEquals("inside", content("in:day/x.csv"));
          opened++;
        } catch (EngineException e) {
          assertTrue(
              e.code() == ErrorCode.INSUFFICIENT_PRIVILEGE || e.code() == ErrorCode.UNDEFINED_FILE,
              e.getMessage());
        }
      }
    } finally {
      isOver.set(true);
      swapper.join();
    }
  }
}
