/// Code that runs in a process of an application. It is the same system as in the endpoint. Its engine is on the other side of the lanes
/// ([dev.kakehashi.applications.child.RemoteHost]).
@NullMarked
package dev.kakehashi.applications.child;

import org.jspecify.annotations.NullMarked;
