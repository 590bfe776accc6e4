package dev.kakehashi.applications.define;

import dev.kakehashi.application.ApplicationProcess;
import dev.kakehashi.application.ProcessOptions;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcessSignature;
import java.util.function.Supplier;

/// A process while it is defined.
final class ProcessDraft implements ProcessOptions {
  private final DefinitionReader reader;
  final String name;
  private final Supplier<? extends ApplicationProcess> maker;
  private boolean isAutostart = true;

  ProcessDraft(DefinitionReader reader, String name, Supplier<? extends ApplicationProcess> maker) {
    this.reader = reader;
    this.name = name;
    this.maker = maker;
  }

  ProcessMember member() {
    return new ProcessMember(new ProcessSignature(name, isAutostart), maker);
  }

  @Override
  public ProcessOptions autostart(boolean begins) {
    reader.checkOpen();
    isAutostart = begins;
    return this;
  }
}
