package dev.kakehashi.applications.define;

import dev.kakehashi.application.Definitions;
import dev.kakehashi.applications.type.ArgumentShape;
import dev.kakehashi.applications.type.ResultShape;
import dev.kakehashi.engine.api.application.ApplicationContents.ProcedureSignature;

/// A procedure, or the code of a route.
///
/// @param isStream whether the body gives a stream of rows
public record ProcedureMember(
    ProcedureSignature signature,
    ArgumentShape argument,
    ResultShape result,
    boolean isStream,
    Definitions.Body<Object, Object> body) {}
