/// Applications in processes of their own, as the endpoint sees them.
///
/// Each version with `isolation = 'process'` has one process ([dev.kakehashi.applications.remote.OwnProcess]), which begins again when it
/// has died. [dev.kakehashi.applications.remote.RemoteApplication] sends calls there, and [dev.kakehashi.applications.remote.HostSession]
/// does with the engine what the calls ask for.
@NullMarked
package dev.kakehashi.applications.remote;

import org.jspecify.annotations.NullMarked;
