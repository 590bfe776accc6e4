package dev.kakehashi.applications.define;

import dev.kakehashi.application.Definitions;
import dev.kakehashi.applications.type.PayloadShape;
import dev.kakehashi.engine.api.application.ApplicationContents.HandlerSignature;

/// A handler of a queue.
public record HandlerMember(
    HandlerSignature signature, PayloadShape payload, Definitions.Handler<Object> body) {}
