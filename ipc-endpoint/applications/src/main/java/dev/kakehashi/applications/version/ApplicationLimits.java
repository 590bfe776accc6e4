package dev.kakehashi.applications.version;

import dev.kakehashi.applications.call.CallSlots;
import dev.kakehashi.engine.api.application.ApplicationOptions;

/// State that all versions of an application share: its limits as they are now, and its places for calls. Thread-safe.
public final class ApplicationLimits {
  private final CallSlots slots;
  private volatile ApplicationOptions options;

  public ApplicationLimits(String application, ApplicationOptions options) {
    this.options = options;
    this.slots = new CallSlots(application, this::options);
  }

  public ApplicationOptions options() {
    return options;
  }

  public void set(ApplicationOptions changed) {
    options = changed;
  }

  CallSlots slots() {
    return slots;
  }
}
