package dev.kakehashi.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.kakehashi.testsupport.Await;
import dev.kakehashi.testsupport.PreloadedLibrary;
import dev.kakehashi.testsupport.ServerProcess;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibCTest {
  private static final MethodHandle GETPID =
      LibC.function("getpid", FunctionDescriptor.of(JAVA_INT), Linker.Option.critical(false));
  private static final MethodHandle CLOSE =
      LibC.functionWithErrno("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle OPEN =
      LibC.functionWithErrno(
          "open",
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
          Linker.Option.firstVariadicArg(2));

  @TempDir Path directory;

  @Test
  void shouldCallFunction() throws Throwable {
    assertEquals(ProcessHandle.current().pid(), (int) GETPID.invokeExact());
  }

  @Test
  void shouldGiveErrnoOfFailedCall() throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = LibC.errnoState(arena);
      assertEquals(-Errno.EBADF, LibC.result((int) CLOSE.invokeExact(state, -1), state));
      assertEquals(-Errno.ENOENT, open(arena, state, directory.resolve("none")));
      // A call that succeeds has its own result, whatever the state says of one before.
      long descriptor = open(arena, state, Files.createFile(directory.resolve("file")));
      assertEquals(0, LibC.result((int) CLOSE.invokeExact(state, (int) descriptor), state));
    }
  }

  @Test
  void shouldCallTheFunctionOfAPreloadedLibrary() throws Exception {
    Path library = PreloadedLibrary.compile(Path.of("src/test/c/getppid.c"), directory);
    ProcessBuilder program =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            ParentProgram.class.getName(),
            "4711");
    program.environment().put("LD_PRELOAD", library.toString());
    // Standard output of a child of the test is the way to Maven.
    program.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
    Process running = program.start();
    assertEquals(0, ServerProcess.awaitExit("the program", running, Await.LIMIT));
  }

  @Test
  void shouldRefuseUnknownFunction() {
    assertThrows(
        NoSuchElementException.class,
        () -> LibC.function("kakehashi_none", FunctionDescriptor.of(JAVA_LONG)));
  }

  @Test
  void shouldNameErrorsAsJavaDoes() {
    Path below = directory.resolve("x".repeat(300));
    FileSystemException refused =
        assertThrows(FileSystemException.class, () -> Files.createFile(below));
    assertEquals(refused.getReason(), Errno.reason(Errno.ENAMETOOLONG));
    assertEquals("error 110 of the operating system", Errno.reason(Errno.ETIMEDOUT));
  }

  private static long open(Arena arena, MemorySegment state, Path path) throws Throwable {
    int returned = (int) OPEN.invokeExact(state, arena.allocateFrom(path.toString()), 0);
    return LibC.result(returned, state);
  }
}
