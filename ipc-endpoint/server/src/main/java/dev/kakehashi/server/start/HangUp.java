package dev.kakehashi.server.start;

import java.lang.reflect.Proxy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Action of SIGHUP, instead of the end of the process.
///
/// The JVM's own interface for signals, `sun.misc.Signal`, is called by reflection: it is in the supported module jdk.unsupported, and the
/// compiler has a warning for it that nothing suppresses.
public final class HangUp {
  private static final Logger LOG = LoggerFactory.getLogger(HangUp.class);

  private HangUp() {}

  /// From now on a SIGHUP runs the action, on a thread of its own.
  public static void handle(Runnable action) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object proxy =
          Proxy.newProxyInstance(
              HangUp.class.getClassLoader(),
              new Class<?>[] {handler},
              (self, method, arguments) -> {
                // The only method that is called: it is kept as a value, not as a key.
                if (method.getName().equals("handle")) {
                  action.run();
                }
                return null;
              });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance("HUP"), proxy);
    } catch (ReflectiveOperationException e) {
      LOG.warn("SIGHUP will not read the settings again; use \"kakehashi reload\"", e);
    }
  }
}
