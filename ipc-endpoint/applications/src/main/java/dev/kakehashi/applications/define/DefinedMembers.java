package dev.kakehashi.applications.define;

import dev.kakehashi.applications.function.FunctionBody;
import dev.kakehashi.engine.api.application.ApplicationContents;
import java.util.List;

/// All that an application has defined: lists by the order of those in the contents. Immutable; holds user classes.
public record DefinedMembers(
    ApplicationContents contents,
    List<FunctionBody> functions,
    List<ProcedureMember> procedures,
    List<ProcedureMember> routes,
    List<HandlerMember> handlers,
    List<ProcessMember> processes) {}
