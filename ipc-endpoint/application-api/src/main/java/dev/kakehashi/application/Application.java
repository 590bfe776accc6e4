package dev.kakehashi.application;

/// Users' own Java inside the endpoint. Made once for each version that is in use, by its public constructor without parameters; calls of
/// it run on many threads at a time.
public interface Application extends AutoCloseable {
  /// Says what the application offers. Called once, before anything else; it may not use the engine.
  void define(Definitions definitions);

  /// The version is not used any more: no call of it runs. All that the application has started ends here.
  @Override
  default void close() {}
}
