package dev.kakehashi.applications.define;

import dev.kakehashi.application.ApplicationProcess;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcessSignature;
import java.util.function.Supplier;

/// A process.
public record ProcessMember(
    ProcessSignature signature, Supplier<? extends ApplicationProcess> maker) {}
