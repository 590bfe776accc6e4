/// The memory that the endpoint shares with a process of an application: lanes, by which two threads take turns, and the form of what they
/// say.
///
/// A lane belongs to one thread of each side at a time. The thread that has the turn writes a message and hands the turn over, and then
/// waits for the other's. So a call is a request and a reply, and a call within a call rides on the same lane.
///
/// Neither side believes the other: lengths are read once and bounded, and messages are copied before they are looked at.
@NullMarked
package dev.kakehashi.applications.link;

import org.jspecify.annotations.NullMarked;
