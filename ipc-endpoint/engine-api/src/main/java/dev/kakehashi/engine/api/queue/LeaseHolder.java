package dev.kakehashi.engine.api.queue;

/// Holder of leases that end with it: a session, or a handler in the process. Thread-safe.
public interface LeaseHolder {
  /// Nobody: such leases end by time only.
  LeaseHolder TIME =
      new LeaseHolder() {
        @Override
        public String name() {
          return "time";
        }

        @Override
        public void lost(LeaseToken token) {}
      };

  /// For displays.
  String name();

  /// A lease has ended without the holder's doing: by time, or because its queue is gone. Must not block; any thread.
  void lost(LeaseToken token);
}
