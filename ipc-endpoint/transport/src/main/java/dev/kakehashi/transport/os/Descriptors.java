package dev.kakehashi.transport.os;

import java.io.IOException;
import java.nio.channels.SocketChannel;

/// Descriptors of this process, and copies of them for others. Stateless.
public final class Descriptors {
  private static final int READ_ONLY_CLOSE_ON_EXEC = 0x80000;
  private static final int TRY_AGAIN = -11;

  private Descriptors() {}

  /// Another descriptor of an open file, for reading alone: who gets a copy cannot map the file for writing.
  ///
  /// @return the caller closes it, by [#close]
  /// @throws IOException the system refuses
  public static int readOnly(int descriptor) throws IOException {
    int opened = Linux.open("/proc/self/fd/" + descriptor, READ_ONLY_CLOSE_ON_EXEC, 0);
    if (opened < 0) {
      throw new IOException("could not open shared memory for reading: errno " + -opened);
    }
    return opened;
  }

  public static void close(int descriptor) {
    Linux.close(descriptor);
  }

  /// Sends bytes with a copy of a descriptor.
  ///
  /// @param channel connected Unix socket that does not block
  /// @return whether they have gone whole
  public static boolean send(SocketChannel channel, byte[] message, int descriptor)
      throws IOException {
    int sent = Linux.sendDescriptor(Credentials.descriptor(channel), message, descriptor);
    if (sent < 0 && sent != TRY_AGAIN) {
      throw new IOException("could not send a descriptor: errno " + -sent);
    }
    return sent == message.length;
  }
}
