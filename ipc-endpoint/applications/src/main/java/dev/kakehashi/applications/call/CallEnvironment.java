package dev.kakehashi.applications.call;

import dev.kakehashi.applications.table.Shapes;
import dev.kakehashi.applications.watch.CallWatch;
import dev.kakehashi.applications.watch.UserFailures;
import dev.kakehashi.engine.api.application.ApplicationHost;
import dev.kakehashi.engine.api.application.ApplicationOptions;
import java.util.function.Supplier;

/// Environment of the calls of one version. Immutable.
///
/// @param options limits as they are now
/// @param slots of the application, which all of its versions share
/// @param here runs short calls where their requests were read
/// @param loader of the version
public record CallEnvironment(
    ApplicationHost host,
    CallWatch watch,
    UserFailures failures,
    Supplier<ApplicationOptions> options,
    CallSlots slots,
    CallRegistry calls,
    Supplier<HereCalls> here,
    ClassLoader loader,
    Shapes shapes,
    ProcessMessages processes) {}
