package dev.kakehashi.tools;

import dev.kakehashi.client.Session;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Where the program begins: a shell with usual arguments runs at once, all else goes to [Tools].
///
/// Nothing here refers to the library for arguments: its classes are of a form that the JVM keeps in no archive, and to load and to look at
/// them takes longer than a short shell.
public final class Launch {
  private Launch() {}

  public static void main(String[] arguments) {
    @Nullable SqlCommand shell =
        arguments.length > 0 && arguments[0].equals("sql")
            ? SqlCommand.plain(Arrays.asList(arguments).subList(1, arguments.length))
            : null;
    if (shell == null) {
      Tools.main(arguments);
      return;
    }
    int exit;
    Thread.ofPlatform().daemon().name("warm").start(Launch::warm);
    try {
      Session.load();
      exit = shell.call();
    } catch (Exception failure) {
      System.err.println("error: " + Reason.of(failure));
      exit = 1;
    }
    System.exit(exit);
  }

  /// Lets the JVM make ready what the first native call and the first Unix socket need, while the other processor makes ready the queue's
  /// library. Both take a tenth of a second. Classes of that library are left to one thread: their initialisers need each other.
  @SuppressWarnings("try") // opened to be closed
  private static void warm() {
    try (SocketChannel none = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      Session.warm();
    } catch (IOException unavailable) {
      // The attach that follows in a moment says why.
    }
  }
}
